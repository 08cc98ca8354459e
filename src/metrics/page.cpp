#include "metrics/page.hpp"

#include <algorithm>
#include <string_view>

#include "metrics/families.hpp"

namespace doorbuster {

namespace {

constexpr std::array<std::string_view, stages> stage_names = {
    "level",    "address_list", "address_limit", "global_limit",       "rebuilding",  "identity",
    "origin",   "sale",         "body",          "buyer_list",         "buyer_limit", "window",
    "sold_out", "check",        "token",         "buyers_per_address", "risk",        "sale_limit",
    "crowd",    "queue",        "book"};
constexpr std::array<std::string_view, purchase_outcomes> outcome_names = {
    "accepted", "repeated", "sold_out",     "limit_reached", "not_open",
    "ended",    "paused",   "key_mismatch", "unknown",       "sold_out_for_now"};

template <class Read>
uint64_t sum(const MetricsSnapshot::Listener& listener, Read read) {
    uint64_t total = 0;
    for (const Probe* probe : listener.probes) total += read(*probe);
    return total;
}

void add_listeners(Families& families, const std::vector<MetricsSnapshot::Listener>& listeners) {
    families.counter("doorbuster_requests_total", "Requests answered, by HTTP status");
    for (const auto& listener : listeners) {
        for (int status = Probe::status_min; status <= Probe::status_max; ++status) {
            const uint64_t total =
                sum(listener, [&](const Probe& probe) { return probe.answered_total(status); });
            if (total == 0) continue;  // a status that was never given is no series
            families.add(total, {{"listener", listener.name}, {"status", std::to_string(status)}});
        }
    }

    families.gauge("doorbuster_connections_open", "Connections open now");
    for (const auto& listener : listeners) {
        families.add(listener.connections_open, {{"listener", listener.name}});
    }
    families.counter("doorbuster_connections_total", "Connections accepted");
    for (const auto& listener : listeners) {
        families.add(listener.connections_total, {{"listener", listener.name}});
    }
    families.counter("doorbuster_deadline_closed_total", "Connections closed at a deadline");
    for (const auto& listener : listeners) {
        families.add(listener.deadline_closed_total, {{"listener", listener.name}});
    }
    families.counter("doorbuster_malformed_total", "Requests that were not HTTP as this server reads it");
    for (const auto& listener : listeners) {
        families.add(listener.malformed_total, {{"listener", listener.name}});
    }
    families.counter("doorbuster_accept_pauses_total",
                     "Times that accepting paused for want of room or file descriptors");
    for (const auto& listener : listeners) {
        families.add(listener.accept_pauses_total, {{"listener", listener.name}});
    }
    families.counter("doorbuster_idle_closed_total",
                     "Connections whose client kept them waiting, closed to make room for a newcomer");
    for (const auto& listener : listeners) {
        families.add(listener.idle_closed_total, {{"listener", listener.name}});
    }
}

void add_purchases(Families& families, const std::vector<MetricsSnapshot::Listener>& listeners) {
    families.counter("doorbuster_refused_total", "Requests turned away, by the stage that did it");
    for (size_t i = 0; i < stages; ++i) {
        uint64_t total = 0;
        for (const auto& listener : listeners) {
            total +=
                sum(listener, [&](const Probe& probe) { return probe.refused_total(static_cast<Stage>(i)); });
        }
        families.add(total, {{"stage", std::string(stage_names[i])}});
    }
    families.counter("doorbuster_purchases_total", "Purchases that reached the book, by what it said");
    for (size_t i = 0; i < purchase_outcomes; ++i) {
        uint64_t total = 0;
        for (const auto& listener : listeners) {
            total += sum(listener, [&](const Probe& probe) {
                return probe.decided_total(static_cast<PurchaseOutcome>(i));
            });
        }
        families.add(total, {{"outcome", std::string(outcome_names[i])}});
    }
}

void add_units(Families& families, const std::vector<MetricsSnapshot::Units>& units) {
    families.gauge("doorbuster_units", "Units of an item, by where they are");
    auto add = [&](const MetricsSnapshot::Units& item) {
        auto in_state = [&](const char* state, uint64_t count) {
            families.add(count, {{"sale", item.sale}, {"item", item.item}, {"state", state}});
        };
        in_state("available", item.available);
        in_state("held", item.held);
        in_state("sold", item.sold);
    };

    const size_t shown = std::min(units.size(), MetricsSnapshot::item_rows_max);
    for (size_t i = 0; i < shown; ++i) add(units[i]);
    if (shown == units.size()) return;
    MetricsSnapshot::Units rest{.sale = rest_label, .item = rest_label};
    for (size_t i = shown; i < units.size(); ++i) {
        rest.available += units[i].available;
        rest.held += units[i].held;
        rest.sold += units[i].sold;
    }
    add(rest);
}

void add_sold_out_changes(Families& families, const std::vector<MetricsSnapshot::Units>& units) {
    families.counter("doorbuster_sold_out_changes_total",
                     "Times that an item was sold out, or had units again; odd: it is sold out");
    const size_t shown = std::min(units.size(), MetricsSnapshot::item_rows_max);
    for (size_t i = 0; i < shown; ++i) {
        families.add(units[i].sold_out_changes, {{"sale", units[i].sale}, {"item", units[i].item}});
    }
}

void add_cluster(Families& families, const MetricsSnapshot::Cluster& cluster) {
    families.gauge("doorbuster_lease_holds", "1 while PostgreSQL's word to sell is not over");
    families.add(cluster.lease_holds ? 1 : 0);
    families.gauge("doorbuster_on_duty", "1 where the clock and the money are watched");
    families.add(cluster.on_duty ? 1 : 0);
    families.gauge("doorbuster_partitions_held", "Partitions of the ledger whose orders are made here");
    families.add(cluster.partitions_held);
    families.counter("doorbuster_partitions_lost_total", "Partitions that another worker has taken over");
    families.add(cluster.partitions_lost_total);
    families.counter("doorbuster_partition_troubles_total",
                     "Times that a partition's orders began anew because a store was in trouble");
    families.add(cluster.partition_troubles_total);
    families.counter("doorbuster_partitions_unreadable_total",
                     "Times that a partition could not be read here: somebody has to look");
    families.add(cluster.partitions_unreadable_total);
    families.gauge("doorbuster_rebuilds_under_way", "Books in Redis that are being rebuilt from here");
    families.add(cluster.rebuilds_under_way);
    families.counter("doorbuster_rebuilds_total", "Books in Redis that were rebuilt from here");
    families.add(cluster.rebuilds_total);
    families.gauge("doorbuster_releases_waiting", "Units' releases that have not reached Redis");
    families.add(cluster.releases_waiting);
    families.counter("doorbuster_takes_swept_total", "Takes brought to the ledger for a gate that went away");
    families.add(cluster.takes_swept_total);
    families.counter("doorbuster_producers_replaced_total",
                     "Times that Kafka's producer had to be made anew");
    families.add(cluster.producers_replaced_total);
    families.counter("doorbuster_checks_unknown_total",
                     "Answers to checks refused because Redis did not say whether they were the first");
    families.add(cluster.checks_unknown_total);
    families.counter("doorbuster_strikes_told_total", "Strikes and used turns for other gates to hear of");
    families.add(cluster.strikes_told_total);
    families.counter("doorbuster_strikes_heard_total", "Strikes and used turns that other gates told of");
    families.add(cluster.strikes_heard_total);
    families.counter("doorbuster_strikes_untold_total", "Strikes that other gates never heard of");
    families.add(cluster.strikes_untold_total);
}

}  // namespace

std::string metrics_text(const MetricsSnapshot& snapshot) {
    Families families;
    add_listeners(families, snapshot.listeners);
    add_purchases(families, snapshot.listeners);
    add_units(families, snapshot.units);
    add_sold_out_changes(families, snapshot.units);

    families.gauge("doorbuster_queue_depth", "Purchases that wait for the owner thread");
    families.add(snapshot.queue_depth);
    families.gauge("doorbuster_queue_predicted_wait_seconds", "How long a purchase put in now would wait");
    families.add(snapshot.predicted_wait_seconds);
    families.counter("doorbuster_batches_total", "Batches that the owner thread decided");
    families.add(snapshot.batches_total);
    families.counter("doorbuster_commands_total", "Purchases that the owner thread decided");
    families.add(snapshot.commands_total);
    families.counter("doorbuster_acceptances_total", "Acceptances appended to the ledger since the start");
    families.add(snapshot.acceptances_total);

    families.gauge("doorbuster_orders_position", "How far the order worker has come in the ledger");
    families.add(snapshot.orders_position);
    families.gauge("doorbuster_orders_behind", "Ledger records that the order worker has not placed yet");
    families.add(snapshot.orders_behind);
    families.counter("doorbuster_orders_total",
                     "Ledger records handled since the start, by what became of them");
    families.add(snapshot.ordered_total, {{"outcome", "ordered"}});
    families.add(snapshot.cancelled_total, {{"outcome", "cancelled"}});
    families.add(snapshot.dead_letters_total, {{"outcome", "dead_letter"}});

    if (snapshot.cluster) add_cluster(families, *snapshot.cluster);
    add_money(families, snapshot.money);

    families.gauge("doorbuster_level", "0 normal, 1 no_browse, 2 purchase_only, 3 closed");
    families.add(snapshot.level);
    families.counter("doorbuster_level_changes_total", "Times that the level in force changed");
    families.add(snapshot.level_changes_total);
    families.counter("doorbuster_strikes_total",
                     "Failed checks, refused tokens and abandoned holds that were held against a buyer");
    families.add(snapshot.strikes_total);
    families.counter("doorbuster_limits_overflowed_total",
                     "Times that somebody was held to a limit together with others, for want of room");
    families.add(snapshot.limits_overflowed_total);
    families.counter("doorbuster_images_drawn_total", "Images drawn for human checks");
    families.add(snapshot.images_drawn_total);
    families.counter("doorbuster_images_reused_total", "Images handed out again because none was left");
    families.add(snapshot.images_reused_total);
    families.counter("doorbuster_burned_full_total",
                     "Answers to checks refused because there was no room to remember them");
    families.add(snapshot.burned_full_total);
    families.counter("doorbuster_not_found_cached_total", "Look-ups answered from the negative cache");
    families.add(snapshot.not_found_cached_total);

    families.gauge("doorbuster_event_streams", "Streams of a purchase's events that are open now");
    families.add(snapshot.event_streams);
    families.gauge("doorbuster_sales_late", "Sales that were not ready at opens_at and have not opened yet");
    families.add(snapshot.sales_late);

    families.gauge("doorbuster_ready", "1 when the books are there and purchases are taken");
    families.add(snapshot.ready ? 1 : 0);
    return families.text();
}

}  // namespace doorbuster
