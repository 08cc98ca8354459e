// The metrics page: plain figures in, Prometheus text out. The one folder that knows
// the metrics' names.
//
// Every series costs memory in whoever collects it, so what grows with the catalogue is
// bounded: rows beyond the bound are added up in one row whose sale and item are `*`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/money.hpp"
#include "metrics/probe.hpp"

namespace doorbuster {

struct MetricsSnapshot {
    // The sum over a listener's gate threads.
    struct Listener {
        std::string name;                  // "public", "admin"
        std::vector<const Probe*> probes;  // one per gate thread
        uint64_t connections_open = 0, connections_total = 0, deadline_closed_total = 0, malformed_total = 0,
                 accept_pauses_total = 0, idle_closed_total = 0;
    };
    struct Units {
        std::string sale, item;
        uint64_t available = 0, held = 0, sold = 0;
        uint64_t sold_out_changes = 0;  // to sold out and back
    };

    static constexpr size_t item_rows_max = 1000;

    std::vector<Listener> listeners;
    std::vector<Units> units;  // in a steady order, the sales that matter most first

    // The owner thread.
    uint64_t queue_depth = 0;
    double predicted_wait_seconds = 0;
    uint64_t batches_total = 0, commands_total = 0, acceptances_total = 0;

    // The order worker. Behind: accepted, not yet placed.
    uint64_t orders_position = 0, orders_behind = 0;
    uint64_t ordered_total = 0, cancelled_total = 0, dead_letters_total = 0;

    // This process's part in a cluster.
    struct Cluster {
        bool lease_holds = false, on_duty = false;
        uint64_t partitions_held = 0, partitions_lost_total = 0, partition_troubles_total = 0,
                 partitions_unreadable_total = 0;
        uint64_t rebuilds_under_way = 0, rebuilds_total = 0;
        uint64_t releases_waiting = 0, takes_swept_total = 0, producers_replaced_total = 0;
        uint64_t checks_unknown_total = 0;
        uint64_t strikes_told_total = 0, strikes_heard_total = 0, strikes_untold_total = 0;
    };
    std::optional<Cluster> cluster{};

    MoneyFigures money;

    // The funnel.
    uint64_t level = 0, level_changes_total = 0;
    uint64_t strikes_total = 0, limits_overflowed_total = 0;
    uint64_t images_drawn_total = 0, images_reused_total = 0, burned_full_total = 0;
    uint64_t not_found_cached_total = 0;

    uint64_t event_streams = 0;
    uint64_t sales_late = 0;
    bool ready = false;
};

std::string metrics_text(const MetricsSnapshot&);

}  // namespace doorbuster
