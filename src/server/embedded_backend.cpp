#include "server/embedded_backend.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "server/pacing.hpp"
#include "shard/rebuild.hpp"

namespace doorbuster {

namespace {

std::string advice_on(const StoreError& error, const std::string& path) {
    std::string text = error.text();
    if (error.code == StoreErrc::full)
        text += fmt::format("; free space on the disk of {} and start again: nothing is lost", path);
    if (error.code == StoreErrc::read_only)
        text += fmt::format("; make {} writable or choose another store.path", path);
    return text;
}

}  // namespace

OpenedBackend EmbeddedBackend::open(const Config& config, Clock& clock, Hooks hooks) {
    auto store = EmbeddedStore::open(config.store.path);
    if (!store) return advice_on(store.error(), config.store.path);
    const auto last_id = last_id_of(store->orders->reader());
    if (!last_id) return advice_on(last_id.error(), config.store.path);
    return std::unique_ptr<Backend>(
        new EmbeddedBackend(*std::move(store), *last_id, config, clock, std::move(hooks)));
}

EmbeddedBackend::EmbeddedBackend(EmbeddedStore store, int64_t last_id, const Config& config, Clock& clock,
                                 Hooks hooks)
    : hooks_(std::move(hooks)),
      clock_(clock),
      path_(config.store.path),
      store_(std::move(store)),
      shard_(*store_.ledger),
      owner_(shard_, clock,
             {.queue_capacity = config.shard.queue_capacity,
              .batch_max = config.shard.batch_max,
              .pace = pacing_of(config.shard)},
             {.on_append = hooks_.ledger_grew,
              .on_failure = [this](const StoreError& error) { hooks_.failed(advice_on(error, path_)); }}),
      ids_(config.orders.node, last_id),
      worker_(*store_.worker_ledger, *store_.orders, owner_, ids_,
              {.batch_max = config.orders.batch_max,
               .rate_per_second_max = orders_per_second_of(config.orders, embedded_orders_per_second_max),
               .rate_per_second_in_rush = config.orders.rate_per_second_in_rush},
              {.tally = &tally_, .changed = hooks_.changed}) {}

// Memory and disk may no longer agree, and after a failed sync nothing is retried.
bool EmbeddedBackend::mend(const StoreError& error) {
    hooks_.failed(advice_on(error, path_));
    return false;
}

StoreResult<void> EmbeddedBackend::rebuild() {
    if (const auto loaded = worker_.load(); !loaded) return loaded.error();
    const auto rebuilt = doorbuster::rebuild(shard_, store_.orders->reader(), *store_.worker_ledger);
    if (!rebuilt) return rebuilt.error();
    ledger_position_at_start_ = rebuilt->ledger_position;
    log_info("books rebuilt",
             {{"purchases", rebuilt->purchases}, {"not_yet_ordered", rebuilt->ledger_records}});
    return {};
}

// A folder that was left in order can be moved or copied file by file.
StoreResult<void> EmbeddedBackend::stop() {
    for (const auto& kept : {store_.ledger->idle(), store_.orders->idle()}) {
        if (!kept) return kept.error();
    }
    return {};
}

OrderFigures EmbeddedBackend::order_figures() const {
    const uint64_t ledger_position = ledger_position_at_start_ + owner_.figures().acceptances;
    return {.ordered = worker_.ordered(),
            .cancelled = worker_.cancelled(),
            .dead_letters = worker_.dead_letters(),
            .position = worker_.position(),
            .behind = ledger_position - std::min(ledger_position, worker_.position())};
}

}  // namespace doorbuster
