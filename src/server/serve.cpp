#include "server/serve.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>

#include "base/log.hpp"
#include "server/audit_thread.hpp"
#include "server/cashier.hpp"
#include "server/embedded_store.hpp"
#include "server/front.hpp"
#include "server/guard.hpp"
#include "server/money_watch.hpp"
#include "server/stop_signal.hpp"
#include "server/webhook_sender.hpp"
#include "shard/rebuild.hpp"

namespace doorbuster {

namespace {

int failed(const std::string& reason) {
    std::fprintf(stderr, "doorbuster: %s\n", reason.c_str());
    return 1;
}

// What happened, and what to do about it.
std::string advice_on(const StoreError& error, const Config& config) {
    std::string text = error.text();
    if (error.code == StoreErrc::full) {
        text += fmt::format("; free space on the disk of {} and start again: nothing is lost",
                            config.store.path.value());
    }
    if (error.code == StoreErrc::read_only) {
        text += fmt::format("; make {} writable or choose another store.path", config.store.path.value());
    }
    return text;
}

// Orders and payments are numbered by one generator.
StoreResult<int64_t> last_id_of(OrdersReader& reader) {
    const auto order = reader.last_order();
    if (!order) return order.error();
    const auto payment = reader.last_payment();
    if (!payment) return payment.error();
    return std::max(static_cast<int64_t>(*order), static_cast<int64_t>(*payment));
}

std::vector<WebhookSecret> provider_secrets(const PaymentsOptions& options) {
    std::vector<WebhookSecret> secrets;
    for (const std::string& text :
         {options.webhook_secret.value(), options.webhook_secret_previous.value()}) {
        if (auto secret = WebhookSecret::parse(text); secret) secrets.push_back(*std::move(secret));
    }
    return secrets;
}

PageTerms page_terms(const PageOptions& options, bool has_demo_sign_in) {
    return {.cooldown_ms = options.cooldown_ms,
            .cache = std::chrono::seconds(options.cache_s.value()),
            .stale = std::chrono::seconds(options.stale_s.value()),
            .has_demo_sign_in = has_demo_sign_in};
}

Owner::Pacing owner_pace(const ShardOptions& options) {
    return {.wait_max = milliseconds(options.wait_ms_max.value()),
            .rate_per_second_max = options.rate_per_second_max};
}

// A crowd needs a file descriptor each; the soft limit is often 1,024.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const Config& config, const ServeMode& mode) {
    set_log_level(config.log.level.value());
    raise_descriptor_limit();
    StopSignal stop;
    auto fail = [&](const StoreError& error) { stop.fail(advice_on(error, config)); };

    // Owners, in the order of a purchase's way; each borrows from those above it.
    MonotonicClock clock;
    auto store = EmbeddedStore::open(config.store.path);
    if (!store) return failed(advice_on(store.error(), config));
    auto readers = store->lookup_readers(config.lookups.threads);
    if (!readers) return failed(readers.error().text());
    auto audit_readers = store->audit_readers();
    if (!audit_readers) return failed(audit_readers.error().text());
    const auto last_id = last_id_of(store->orders->reader());
    if (!last_id) return failed(last_id.error().text());
    Front front(config, page_terms(config.page, mode.demo_sign_in));

    Shard shard(*store->ledger);
    OrdersThread* orders_thread_at = nullptr;
    Owner owner(shard, clock,
                {.queue_capacity = config.shard.queue_capacity,
                 .batch_max = config.shard.batch_max,
                 .pace = owner_pace(config.shard)},
                {.on_append = [&] { orders_thread_at->wake(); }, .on_failure = fail});
    owner.set_sinks(front.sinks());
    Snowflake ids(config.orders.node, *last_id);
    OrderTally tally;
    auto changed = [&](std::span<const PurchaseId> purchases) { front.purchases_changed(purchases); };
    OrderWorker worker(
        *store->worker_ledger, *store->orders, owner, ids,
        {.batch_max = config.orders.batch_max, .rate_per_second_max = config.orders.rate_per_second_max},
        {.tally = &tally, .changed = changed});
    WebhookSender webhooks(store->orders->outbox(), store->orders->reader(), clock,
                           {.in_flight_max = config.webhooks.in_flight_max, .seed = random_seed()}, [&] {
                               if (orders_thread_at != nullptr) orders_thread_at->wake();
                           });
    webhooks.set_target(WebhookTarget::of(config.webhooks));
    Guard guard(
        config, mode.read_again, clock, store->orders->settings(),
        {.publish = [&](auto rules, auto shown) { front.publish(std::move(rules), std::move(shown)); },
         .on_orders_thread = [&](auto task) { return orders_thread_at->post(std::move(task)); },
         .reloaded =
             [&](const Config& fresh) {
                 webhooks.set_target(WebhookTarget::of(fresh.webhooks));
                 owner.set_pace(owner_pace(fresh.shard));
                 front.set_limits(fresh);
             }});
    if (const auto loaded = guard.load(); !loaded) return failed(loaded.error());
    SaleDesk desk(*store->orders, owner, [&](std::shared_ptr<const Catalogue> catalogue, auto shown) {
        guard.prepare_for(*catalogue);
        front.publish(std::move(catalogue), std::move(shown));
    });
    Cashier cashier(config.payments, *store->orders, owner, *store->worker_ledger, ids, tally, clock,
                    {.post = [&](auto task) { orders_thread_at->post_answer(std::move(task)); },
                     .changed = changed,
                     .abandoned =
                         [&](const BuyerId& buyer) {
                             guard.state().strikes.strike(buyer, Strike::abandoned_hold, clock.uptime());
                         }});
    OrdersThread orders_thread(*store->orders, worker, desk, clock, config.orders.tasks_max, fail);
    MoneyWatch money(store->orders->reader(), cashier.payments(), tally);
    orders_thread.also_run([&](Instant now, Uptime uptime) { return cashier.payments().step(now, uptime); });
    orders_thread.also_run([&](Instant now, Uptime uptime) { return money.step(now, uptime); });
    orders_thread.also_run([&](Instant now, Uptime uptime) { return webhooks.step(now, uptime); });
    orders_thread_at = &orders_thread;
    AuditThread audit(
        *std::move(audit_readers),
        {.store = store->orders->audit(),
         .books = owner,
         .next_order = [&](Instant now) { return OrderId{ids.next(now)}; },
         .repaired =
             [&](const RepairOutcome& one) {
                 if (one.made_order) tally.made();
                 if (one.step) tally.moved(one.step->from, one.step->to);
                 if (one.changed) changed({&*one.changed, 1});
             }},
        clock, {.every = std::chrono::seconds(config.audit.every_s.value())},
        {.on_orders_thread = [&](auto task) { return orders_thread.post(std::move(task)); },
         .reconciled =
             [&](const SaleId& sale, Instant now) {
                 desk.reconciled(sale, now, [](const StoreResult<SaleRecord>& done) {
                     if (!done) log_warn("a sale could not be reconciled", {{"error", done.error().text()}});
                 });
             }});
    auto lookups = std::make_unique<Lookups>(*std::move(readers), config.lookups.tasks_max);

    std::atomic<bool> is_ready{false};
    std::atomic<uint64_t> ledger_position_at_start{0};
    auto metrics = [&] {
        const Owner::Figures figures = owner.figures();
        const uint64_t ledger_position = ledger_position_at_start + figures.acceptances;
        MetricsSnapshot snapshot;
        front.describe(snapshot, clock.now());
        snapshot.queue_depth = figures.queued;
        snapshot.predicted_wait_seconds = std::chrono::duration<double>(figures.predicted_wait).count();
        snapshot.batches_total = figures.batches;
        snapshot.commands_total = figures.commands;
        snapshot.acceptances_total = figures.acceptances;
        snapshot.orders_position = worker.position();
        snapshot.orders_behind = ledger_position - std::min(ledger_position, worker.position());
        snapshot.ordered_total = worker.ordered();
        snapshot.cancelled_total = worker.cancelled();
        snapshot.dead_letters_total = worker.dead_letters();
        snapshot.ready = is_ready;
        guard.describe(snapshot);
        webhooks.describe(snapshot.money, clock.now());
        money.describe(snapshot.money, snapshot.orders_behind, clock.now(), clock.uptime());
        audit.describe(snapshot.money, clock.now());
        return metrics_text(snapshot);
    };
    Services services{.clock = clock,
                      .owner = owner,
                      .lookups = *lookups,
                      .orders_thread = orders_thread,
                      .desk = desk,
                      .payments = cashier.payments(),
                      .letters = cashier.letters(),
                      .orders = *store->orders,
                      .outbox = store->orders->outbox(),
                      .notifier = webhooks.notifier(),
                      .books = owner,
                      .on_audit_thread = [&](auto task) { return audit.run(std::move(task)); },
                      .funnel_state = guard.state(),
                      .funnel_rules = guard.rules(),
                      .gate_threads = front.delay_sensors().size(),
                      .provider_secrets = provider_secrets(config.payments),
                      .admin_key = config.admin.key,
                      .demo_sign_in = mode.demo_sign_in,
                      .metrics_text = metrics,
                      .is_ready = [&] { return is_ready.load(); }};

    // The gates answer from here on; buyers hear `rebuilding` until the books are there.
    front.start(services, guard.risk_services(), worker);
    const auto rebuilt = [&]() -> StoreResult<Rebuilt> {
        if (const auto loaded = desk.load(); !loaded) return loaded.error();
        if (const auto loaded = worker.load(); !loaded) return loaded.error();
        if (const auto loaded = cashier.payments().load(); !loaded) return loaded.error();
        return rebuild(shard, store->orders->reader(), *store->worker_ledger);
    }();
    if (rebuilt) {
        ledger_position_at_start = rebuilt->ledger_position;
        log_info("books rebuilt",
                 {{"purchases", rebuilt->purchases}, {"not_yet_ordered", rebuilt->ledger_records}});
        owner.start();
        orders_thread.start();
        webhooks.start();
        audit.start();
        guard.start(front.delay_sensors(),
                    [&owner] { return std::chrono::duration_cast<Uptime>(owner.figures().busy_wait); });
        is_ready = true;
        const Addresses addresses{front.public_address(), front.admin_address()};
        if (mode.on_ready) mode.on_ready(services, addresses);
        fmt::print("doorbuster is ready  public={} admin={}\n", addresses.public_address,
                   addresses.admin_address);
        std::fflush(stdout);
        stop.wait([&guard] { guard.reload([](const ReloadReport&) {}); });
    } else {
        stop.fail(advice_on(rebuilt.error(), config));
    }

    if (const auto reason = stop.failure()) {
        // Memory and disk may no longer agree: let what was answered leave, then end here.
        log_error("stopping after a failure", {{"reason", *reason}});
        front.drain(milliseconds(1000));
        failed(*reason);
        std::fflush(stderr);
        std::_Exit(1);
    }
    log_info("draining");
    guard.stop();
    cashier.stop();
    const Uptime drain_by = clock.uptime() + milliseconds(config.server.drain_ms_max.value());
    auto left = [&] {
        return std::max(milliseconds(0), std::chrono::floor<milliseconds>(drain_by - clock.uptime()));
    };
    audit.stop();
    if (!front.drain(left())) log_warn("some requests were still in hand at the end of server.drain_ms_max");
    owner.stop();                // every purchase submitted is decided and durable
    lookups.reset();             // every look-up is answered
    webhooks.stop();             // calls under way are cut off, and made again after the next start
    orders_thread.stop(left());  // every order promised is placed, as far as there is time
    if (const auto written = webhooks.finish(clock.now()); !written) return failed(written.error().text());
    front.stop();
    // A folder that was left in order can be moved or copied file by file.
    for (const auto& kept : {store->ledger->idle(), store->orders->idle()}) {
        if (!kept) return failed(advice_on(kept.error(), config));
    }
    if (const auto reason = stop.failure()) return failed(*reason);
    const uint64_t ledger_position = ledger_position_at_start + owner.figures().acceptances;
    log_info("stopped",
             {{"position", worker.position()}, {"not_yet_ordered", ledger_position - worker.position()}});
    return 0;
}

}  // namespace

int serve(const Config& config, const ServeMode& mode) {
    try {
        return run(config, mode);
    } catch (const std::runtime_error& error) {
        return failed(error.what());
    }
}

}  // namespace doorbuster
