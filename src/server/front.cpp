#include "server/front.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>

#include "base/log.hpp"

namespace doorbuster {

namespace {

GateOptions gate_options(const Config& config, const std::string& listen, uint32_t body_bytes_max) {
    const ServerOptions& server = config.server;
    return {.listen = listen,
            .body_bytes_max = body_bytes_max,
            .header_bytes_max = server.header_bytes_max,
            .header_fields_max = server.header_fields_max,
            .connections_max = server.connections_max,
            .header_deadline = milliseconds(server.header_deadline_ms.value()),
            .body_deadline = milliseconds(server.body_deadline_ms.value()),
            .write_deadline = milliseconds(server.write_deadline_ms.value()),
            .idle_deadline = milliseconds(server.idle_deadline_ms.value())};
}

// What the process needs beside its public connections: databases, event loops, the admin listener.
constexpr uint32_t descriptors_reserved = 128;

// Connections per public gate. Were the crowd to take the last file descriptor, the operator
// could not get in to do something about it.
uint32_t connections_max(const ServerOptions& server, uint32_t threads) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return server.connections_max;
    }
    const rlim_t for_crowd = limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, descriptors_reserved);
    const rlim_t most = std::max<rlim_t>(1, for_crowd / threads);
    if (server.connections_max <= most) return server.connections_max;
    log_warn(
        "fewer connections per thread than server.connections_max: raise the limit of open files (ulimit -n)",
        {{"connections_max", server.connections_max.value()},
         {"connections_per_thread", most},
         {"threads", threads},
         {"open_files_max", limit.rlim_cur}});
    return static_cast<uint32_t>(most);
}

std::string with_port(const std::string& listen, uint16_t port) {
    return listen.substr(0, listen.rfind(':') + 1) + std::to_string(port);
}

}  // namespace

Front::Front(const Config& config, const PageTerms& page_terms, bool answers_buyers)
    : stream_room_({.streams_max = config.events.streams_max,
                    .streams_per_buyer_max = config.events.streams_per_buyer_max}),
      event_terms_{.stream_max = std::chrono::seconds(config.events.stream_s_max.value()),
                   .heartbeat = std::chrono::seconds(config.events.heartbeat_s.value()),
                   .room = stream_room_},
      pages_(page_terms,
             [this](const std::string& path, std::shared_ptr<const Page> page) { show_page(path, page); }) {
    const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    const uint32_t wanted = config.server.threads == 0 ? cores : config.server.threads.value();
    const uint32_t threads = answers_buyers ? wanted : 0;
    GateOptions options = gate_options(config, config.server.listen, config.server.body_bytes_max);
    if (answers_buyers) options.connections_max = connections_max(config.server, threads);
    for (uint32_t index = 0; index < threads; ++index) {
        if (config.server.pin_threads) options.cpu = static_cast<int>(index % cores);
        gates_.push_back(std::make_unique<Gate>(static_cast<uint16_t>(index), options));
        // Where the port was left to the system, all threads share the one that the first got.
        options.listen = with_port(options.listen, gates_.front()->port());
    }
    public_address_ = answers_buyers ? options.listen : "none";
    admin_gate_ =
        std::make_unique<Gate>(static_cast<uint16_t>(threads),
                               gate_options(config, config.admin.listen, config.admin.body_bytes_max));
    admin_address_ = with_port(config.admin.listen, admin_gate_->port());
}

void Front::set_limits(const Config& config) {
    const GateOptions options = gate_options(config, config.server.listen, config.server.body_bytes_max);
    for (const auto& gate : gates_) gate->set_options(options);
    admin_gate_->set_options(gate_options(config, config.admin.listen, config.admin.body_bytes_max));
}

std::vector<ReplySink*> Front::sinks() {
    std::vector<ReplySink*> sinks;
    for (const auto& gate : gates_) sinks.push_back(gate.get());
    sinks.push_back(admin_gate_.get());
    return sinks;
}

std::vector<DelaySensor*> Front::delay_sensors() {
    std::vector<DelaySensor*> sensors;
    for (const auto& gate : gates_) sensors.push_back(&gate->delay_sensor());
    return sensors;
}

void Front::start(Services& services, RiskServices& risk) {
    for (const auto& gate : gates_) {
        apis_.push_back(std::make_unique<PublicApi>(services, *gate, event_terms_));
        gate->set_handler(*apis_.back());
    }
    admin_api_ = std::make_unique<AdminApi>(services, risk);
    admin_gate_->set_handler(*admin_api_);
    pages_.start();  // the first ones wait at the gates when these begin
    for (const auto& gate : gates_) gate->start();
    admin_gate_->start();
}

void Front::publish(std::shared_ptr<const Catalogue> catalogue, std::function<void()> shown) {
    {
        std::lock_guard lock(mutex_);
        catalogue_ = catalogue;
    }
    // Whoever is told of the change must find it at every gate.
    const auto left = std::make_shared<std::atomic<size_t>>(2 * gates_.size() + 1);
    auto is_there = [left, shown] {
        if (left->fetch_sub(1) == 1) shown();
    };
    auto show = [&](Gate& gate, auto& api) {
        gate.post([&api, catalogue, is_there] {
            api.set_catalogue(catalogue);
            is_there();
        });
    };
    for (size_t i = 0; i < gates_.size(); ++i) show(*gates_[i], *apis_[i]);
    show(*admin_gate_, *admin_api_);
    // Behind the pages, which a gate gets in the same way.
    pages_.follow(catalogue, [this, is_there] {
        for (const auto& gate : gates_) gate->post(is_there);
    });
}

void Front::show_page(const std::string& path, const std::shared_ptr<const Page>& page) {
    for (size_t i = 0; i < gates_.size(); ++i) {
        gates_[i]->post([api = apis_[i].get(), path, page] { api->set_page(path, page); });
    }
}

void Front::publish(std::shared_ptr<const FunnelRules> rules, std::function<void()> shown) {
    if (gates_.empty()) return shown();
    const auto left = std::make_shared<std::atomic<size_t>>(gates_.size());
    for (size_t i = 0; i < gates_.size(); ++i) {
        gates_[i]->post([api = apis_[i].get(), rules, left, shown] {
            api->set_rules(rules);
            if (left->fetch_sub(1) == 1) shown();
        });
    }
}

void Front::purchases_changed(std::span<const PurchaseId> purchases) {
    for (const auto& api : apis_) api->purchases_changed(purchases);
}

bool Front::drain(milliseconds at_most) {
    struct Waiting {
        std::mutex mutex;
        std::condition_variable changed;
        size_t left;
    };
    // Shared: after the deadline a gate may still tell that it is done.
    const auto waiting = std::make_shared<Waiting>();
    waiting->left = gates_.size() + 1;
    const auto drained = [waiting] {
        std::lock_guard lock(waiting->mutex);
        --waiting->left;
        waiting->changed.notify_one();
    };
    for (const auto& gate : gates_) gate->drain(drained);
    admin_gate_->drain(drained);
    std::unique_lock lock(waiting->mutex);
    return waiting->changed.wait_for(lock, at_most, [&] { return waiting->left == 0; });
}

void Front::stop() {
    pages_.stop();
    for (const auto& gate : gates_) gate->stop();
    admin_gate_->stop();
}

void Front::describe(MetricsSnapshot& snapshot, Instant now) const {
    MetricsSnapshot::Listener listener{.name = "public", .probes = {}};
    auto add = [&](const Gate& gate, const Probe& probe) {
        const GateFigures figures = gate.figures();
        listener.probes.push_back(&probe);
        listener.connections_open += figures.connections_open;
        listener.connections_total += figures.connections_total;
        listener.deadline_closed_total += figures.deadline_closed_total;
        listener.malformed_total += figures.malformed_total;
        listener.accept_pauses_total += figures.accept_pauses_total;
        listener.idle_closed_total += figures.idle_closed_total;
    };
    for (size_t i = 0; i < gates_.size(); ++i) {
        add(*gates_[i], apis_[i]->probe());
        snapshot.not_found_cached_total += apis_[i]->not_found().hits_total();
    }
    snapshot.listeners.push_back(std::exchange(listener, {.name = "admin", .probes = {}}));
    add(*admin_gate_, admin_api_->probe());
    snapshot.listeners.push_back(std::move(listener));

    snapshot.event_streams = stream_room_.streams();
    std::lock_guard lock(mutex_);
    if (!catalogue_) return;
    for (const auto& [id, sale] : catalogue_->sales()) {
        const bool is_late = sale->state == SaleState::scheduled || sale->state == SaleState::warming;
        if (is_late && now >= sale->sale.opens_at) ++snapshot.sales_late;
        for (const ListedItem& item : sale->items) {
            const Stock stock = item.board->stock();
            snapshot.units.push_back({.sale = id,
                                      .item = item.item.id.str(),
                                      .available = stock.units_available,
                                      .held = stock.units_held,
                                      .sold = stock.units_sold,
                                      .sold_out_changes = item.board->sold_out_version()});
        }
    }
}

}  // namespace doorbuster
