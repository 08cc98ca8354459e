#include "server/serve.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>

#include "base/log.hpp"
#include "server/audit_thread.hpp"
#include "server/backend.hpp"
#include "server/cashier.hpp"
#include "server/front.hpp"
#include "server/guard.hpp"
#include "server/money_watch.hpp"
#include "server/pacing.hpp"
#include "server/stop_signal.hpp"
#include "server/webhook_sender.hpp"

namespace doorbuster {

namespace {

int failed(const std::string& reason) {
    std::fprintf(stderr, "doorbuster: %s\n", reason.c_str());
    return 1;
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

    // Owners, in the order of a purchase's way; each borrows from those above it.
    MonotonicClock clock;
    Front* front_at = nullptr;
    OrdersThread* orders_thread_at = nullptr;
    auto changed = [&](std::span<const PurchaseId> purchases) { front_at->purchases_changed(purchases); };
    auto opened = open_backend(config, clock,
                               {.ledger_grew = [&] { orders_thread_at->ledger_grew(); },
                                .changed = changed,
                                .failed = [&](const std::string& reason) { stop.fail(reason); }});
    if (!opened) return failed(opened.error());
    Backend& backend = **opened;
    Clock& orders_clock = backend.clock();
    auto readers = backend.lookup_readers(config.lookups.threads);
    if (!readers) return failed(readers.error().text());
    auto audit_readers = backend.audit_readers();
    if (!audit_readers) return failed(audit_readers.error().text());
    Front front(config, page_terms(config.page, mode.demo_sign_in), backend.answers_buyers());
    front_at = &front;
    backend.set_sinks(front.sinks());
    Orders& orders = backend.orders();
    BookControl& books = backend.books();
    WebhookSender webhooks(backend.outbox(), orders.reader(), orders_clock,
                           {.in_flight_max = config.webhooks.in_flight_max, .seed = random_seed()}, [&] {
                               if (orders_thread_at != nullptr) orders_thread_at->wake();
                           });
    webhooks.set_target(WebhookTarget::of(config.webhooks));
    Guard guard(
        config, mode.read_again, clock, backend.settings(),
        {.publish = [&](auto rules, auto shown) { front.publish(std::move(rules), std::move(shown)); },
         .on_orders_thread = [&](auto task) { return orders_thread_at->post(std::move(task)); },
         .settings_are_shared = backend.is_shared(),
         .reloaded =
             [&](const Config& fresh) {
                 webhooks.set_target(WebhookTarget::of(fresh.webhooks));
                 backend.purchases().set_pace(pacing_of(fresh.shard));
                 front.set_limits(fresh);
             }});
    if (const auto loaded = guard.load(); !loaded) return failed(loaded.error());
    backend.share(guard.state().strikes);
    SaleDesk desk(
        orders, books,
        [&](std::shared_ptr<const Catalogue> catalogue, auto shown) {
            guard.prepare_for(*catalogue);
            front.publish(std::move(catalogue), std::move(shown));
        },
        backend.warm_up());
    Cashier cashier(config.payments, orders, books, backend.ledger(), backend.ids(), backend.tally(),
                    orders_clock,
                    {.post = [&](auto task) { orders_thread_at->post_answer(std::move(task)); },
                     .changed = changed,
                     .abandoned =
                         [&](const BuyerId& buyer) {
                             guard.state().strikes.strike(buyer, Strike::abandoned_hold, clock.uptime());
                         }});
    OrdersThread orders_thread(orders, backend.worker(), orders_clock, config.orders.tasks_max,
                               [&](const StoreError& error) { return backend.mend(error); });
    MoneyWatch money(
        orders.reader(), [&] { return backend.oldest_in_flight(); }, cashier.payments(), backend.tally());
    if (backend.is_shared()) {
        desk.share();
        orders_thread.also_run([&](Instant, Uptime) -> StoreResult<bool> {
            const auto has_changed = backend.look_at_others();
            if (!has_changed) return has_changed.error();
            if (!*has_changed) return false;
            if (const auto read = desk.refresh(); !read) return read.error();
            return false;
        });
    }
    // Of several processes one does what nobody asked for.
    const auto on_duty = [&](OrdersThread::Turn turn) {
        orders_thread.also_run([&, turn = std::move(turn)](Instant now, Uptime uptime) -> StoreResult<bool> {
            if (!backend.is_on_duty()) return false;
            return turn(now, uptime);
        });
    };
    on_duty([&](Instant now, Uptime uptime) {
        desk.tick(now, uptime);
        return false;
    });
    on_duty([&](Instant now, Uptime uptime) { return cashier.payments().step(now, uptime); });
    on_duty([&](Instant now, Uptime uptime) { return money.step(now, uptime); });
    orders_thread.also_run([&](Instant now, Uptime uptime) -> StoreResult<bool> {
        if (backend.is_on_duty()) return webhooks.step(now, uptime);
        if (const auto rested = webhooks.rest(now); !rested) return rested.error();
        return false;
    });
    orders_thread_at = &orders_thread;
    AuditThread audit(
        *std::move(audit_readers),
        {.store = backend.audit(),
         .books = books,
         .next_order = [&](Instant now) { return OrderId{backend.ids().next(now)}; },
         .repaired =
             [&](const RepairOutcome& one) {
                 if (one.made_order) backend.tally().made();
                 if (one.step) backend.tally().moved(one.step->from, one.step->to);
                 if (one.changed) changed({&*one.changed, 1});
             }},
        orders_clock, {.every = std::chrono::seconds(config.audit.every_s.value())},
        {.is_on_duty = [&] { return backend.is_on_duty(); },
         .on_orders_thread = [&](auto task) { return orders_thread.post(std::move(task)); },
         .reconciled =
             [&](const SaleId& sale, Instant now) {
                 desk.reconciled(sale, now, [](const StoreResult<SaleRecord>& done) {
                     if (!done) log_warn("a sale could not be reconciled", {{"error", done.error().text()}});
                 });
             }});
    auto lookups = std::make_unique<Lookups>(*std::move(readers), config.lookups.tasks_max);

    std::atomic<bool> is_ready{false};
    auto metrics = [&] {
        const PurchaseDesk::Figures figures = backend.purchases().figures();
        const OrderFigures placed = backend.order_figures();
        MetricsSnapshot snapshot;
        front.describe(snapshot, clock.now());
        snapshot.queue_depth = figures.queued;
        snapshot.predicted_wait_seconds = std::chrono::duration<double>(figures.predicted_wait).count();
        snapshot.batches_total = figures.batches;
        snapshot.commands_total = figures.commands;
        snapshot.acceptances_total = figures.acceptances;
        snapshot.orders_position = placed.position;
        snapshot.orders_behind = placed.behind;
        snapshot.ordered_total = placed.ordered;
        snapshot.cancelled_total = placed.cancelled;
        snapshot.dead_letters_total = placed.dead_letters;
        backend.describe(snapshot);
        snapshot.ready = is_ready;
        guard.describe(snapshot);
        // Who is not on duty has old figures, and another process has the new ones.
        if (backend.is_on_duty()) {
            const Instant now = orders_clock.now();
            webhooks.describe(snapshot.money, now);
            money.describe(snapshot.money, snapshot.orders_behind, now);
            audit.describe(snapshot.money, now);
        }
        return metrics_text(snapshot);
    };
    Services services{.clock = clock,
                      .purchases = backend.purchases(),
                      .lookups = *lookups,
                      .orders_thread = orders_thread,
                      .desk = desk,
                      .payments = cashier.payments(),
                      .letters = cashier.letters(),
                      .orders = orders,
                      .outbox = backend.outbox(),
                      .notifier = webhooks.notifier(),
                      .books = books,
                      .order_figures = [&] { return backend.order_figures(); },
                      .rebuilds = backend.rebuilds(),
                      .on_audit_thread = [&](auto task) { return audit.run(std::move(task)); },
                      .funnel_state = guard.state(),
                      .marks = backend.marks(),
                      .funnel_rules = guard.rules(),
                      .gate_threads = std::max<size_t>(1, front.delay_sensors().size()),
                      .provider_secrets = provider_secrets(config.payments),
                      .admin_key = config.admin.key,
                      .demo_sign_in = mode.demo_sign_in,
                      .metrics_text = metrics,
                      .is_ready = [&] { return is_ready.load(); }};

    // The gates answer from here on; buyers hear `rebuilding` until the books are there.
    front.start(services, guard.risk_services());
    const auto rebuilt = [&]() -> StoreResult<void> {
        if (const auto loaded = desk.load(); !loaded) return loaded.error();
        if (const auto loaded = cashier.payments().load(); !loaded) return loaded.error();
        return backend.rebuild();
    }();
    if (rebuilt) {
        backend.start();
        orders_thread.start();
        webhooks.start();
        audit.start();
        guard.start(front.delay_sensors(), [&backend] {
            return std::chrono::duration_cast<Uptime>(backend.purchases().figures().busy_wait);
        });
        is_ready = true;
        const Addresses addresses{front.public_address(), front.admin_address()};
        if (mode.on_ready) mode.on_ready(services, addresses);
        fmt::print("doorbuster is ready  public={} admin={}\n", addresses.public_address,
                   addresses.admin_address);
        std::fflush(stdout);
        stop.wait([&guard] { guard.reload([](const ReloadReport&) {}); });
    } else {
        (void)backend.mend(rebuilt.error());
        if (!stop.failure()) stop.fail(rebuilt.error().text());
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
    backend.stop_selling();      // every purchase submitted is decided and durable
    lookups.reset();             // every look-up is answered
    webhooks.stop();             // calls under way are cut off, and made again after the next start
    orders_thread.stop(left());  // every order promised is placed, as far as there is time
    const auto written = webhooks.finish(orders_clock.now());
    front.stop();
    const OrderFigures placed = backend.order_figures();
    const auto stopped = backend.stop();
    for (const auto& ended : {written, stopped}) {
        if (!ended) return failed(ended.error().text());
    }
    if (const auto reason = stop.failure()) return failed(*reason);
    log_info("stopped", {{"position", placed.position}, {"not_yet_ordered", placed.behind}});
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
