// A shop for tests: real stores, real books, worker and desks; a provider that does as it is told.
//
// Everything that a process would lose when it dies is in Process; restart() makes a new one
// over the same stores. Time passes only where a test says so.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "orders/letters_desk.hpp"
#include "orders/payment_desk.hpp"
#include "orders/sale_desk.hpp"
#include "orders/worker.hpp"
#include "shard/rebuild.hpp"
#include "shard/shard.hpp"
#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster::testing {

// Follows the provider's contract: a key is one attempt, a void of an unknown key leaves a mark.
struct FakeProvider {
    struct Truth {
        ProviderState state = ProviderState::unknown;
        int64_t amount_minor = 0;
        std::string currency;
        int64_t captured_minor = 0;
        std::string captured_currency;
    };
    std::map<PaymentId, Truth> payments;
    bool reachable = true;
    std::vector<ProviderAsk> asked;

    ProviderAnswer answer(const ProviderCall& call) {
        using enum ProviderState;
        asked.push_back(call.ask);
        if (!reachable) return {.view = {}, .error = "connection refused"};
        Truth& truth = payments[call.payment.id];
        if (call.ask == ProviderAsk::create && truth.state == unknown)
            truth = {created, call.payment.amount_minor, call.payment.currency, 0, {}};
        if (call.ask == ProviderAsk::take_back &&
            (truth.state == unknown || truth.state == created || truth.state == declined))
            truth.state = voided;
        if (call.ask == ProviderAsk::refund && truth.state == captured) truth.state = refunded;
        return {.view = ProviderView{.state = truth.state,
                                     .captured_minor = truth.captured_minor,
                                     .captured_currency = truth.captured_currency,
                                     .url = "https://pay.example/" +
                                            std::to_string(static_cast<int64_t>(call.payment.id))},
                .error = {}};
    }
    void decline(PaymentId id) { payments[id].state = ProviderState::declined; }
    // Whatever it said before.
    void capture(PaymentId id, int64_t short_by = 0) {
        Truth& truth = payments[id];
        truth.state = ProviderState::captured;
        truth.captured_minor = 999900 - short_by;
        truth.captured_currency = "TWD";
    }
};

// The real books, reached without a thread. A crash may keep them from hearing anything.
struct ShopBooks final : BookControl {
    Shard& shard;
    const Instant& now;
    bool is_deaf = false;
    explicit ShopBooks(Shard& to, const Instant& clock) : shard(to), now(clock) {}
    void control(ControlCommand command, std::function<void()> applied) override {
        if (is_deaf) return;
        shard.apply(command);
        if (applied) applied();
    }
    void reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) override {
        const ReinstateCommand command{asked, std::move(answered)};
        EXPECT_TRUE(shard.decide({}, now, {&command, 1}).has_value());
    }
};

class Shop : private ReplySink {
public:
    explicit Shop(StockPolicy policy, uint32_t units = 2, uint32_t units_per_buyer_max = 1) {
        Sale sale = phone_drop(units, units_per_buyer_max);
        sale.closes_at = t0 + 24h * 365;
        sale.stock_policy = policy;
        EXPECT_TRUE(orders->create_sale(sale, SaleState::open, now).has_value());
        restart();
    }

    struct Process {
        explicit Process(Shop& of)
            : shop(of),
              shard(*of.ledger),
              books(shard, of.now),
              sales(*of.orders, books, [](const auto&, const auto& shown) { shown(); }),
              ids(1, of.last_id()),
              worker(*of.reader, *of.orders, books, ids, {}, {&tally, [this](auto some) { keep(some); }}),
              letters(*of.reader, *of.orders, books, [this](auto task) { posted.push_back(task); }),
              desk(*of.orders, books, ids, tally, 5, of.options,
                   {.ask = [this](const ProviderCall& call) { calls.push_back(call); },
                    .post = [this](auto task) { posted.push_back(task); },
                    .changed = [this](auto some) { keep(some); },
                    .abandoned = [this](const BuyerId& buyer) { strikes.push_back(buyer); }}) {
            EXPECT_TRUE(sales.load().has_value());
            EXPECT_TRUE(rebuild(shard, of.orders->reader(), *of.reader).has_value());
            EXPECT_TRUE(worker.load().has_value());
            EXPECT_TRUE(desk.load().has_value());
            shard.set_sinks({&of});
        }
        void keep(std::span<const PurchaseId> some) {
            changed.insert(changed.end(), some.begin(), some.end());
        }

        Shop& shop;
        Shard shard;
        ShopBooks books;
        SaleDesk sales;
        Snowflake ids;
        OrderTally tally;
        OrderWorker worker;
        std::deque<std::function<void()>> posted;
        LettersDesk letters;
        std::deque<ProviderCall> calls;  // on their way
        std::vector<PurchaseId> changed;
        std::vector<BuyerId> strikes;
        PaymentDesk desk;
    };

    // What dies here is forgotten: calls on their way, posted answers, everything in memory.
    void restart() {
        process.reset();
        process = std::make_unique<Process>(*this);
    }

    // A buyer presses the button; the worker has not seen it yet.
    void press(uint32_t number, const BuyerId& buyer) {
        const PurchaseCommand command{
            .slot = ItemSlot{0}, .purchase = purchase(number), .buyer = buyer, .units = 1};
        EXPECT_TRUE(process->shard.decide({&command, 1}, now).has_value());
    }
    OrderId buy(uint32_t number, const BuyerId& buyer) {
        press(number, buyer);
        EXPECT_EQ(outcome, ReserveOutcome::accepted);
        work();
        return order_of(number);
    }
    OrderId order_of(uint32_t number) {
        const auto found = orders->reader().find_purchase(purchase(number));
        CHECK(found && *found && (*found)->order);
        return *(*found)->order;
    }
    void work() {
        for (;;) {
            const auto next = process->worker.step(now, uptime);
            ASSERT_TRUE(next.has_value());
            if (*next == OrderWorker::Next::idle) return;
            if (*next == OrderWorker::Next::at_later)
                pass(std::chrono::ceil<milliseconds>(process->worker.wait_until() - uptime));
        }
    }
    void pass(milliseconds by) {
        now += by;
        uptime += by;
    }

    // One turn of the desk, without any answer.
    void step() {
        for (;;) {
            const auto more = process->desk.step(now, uptime);
            ASSERT_TRUE(more.has_value());
            if (!*more) return;
        }
    }
    void answer_one(bool delivered = true) {
        const ProviderCall call = process->calls.front();
        process->calls.pop_front();
        const ProviderAnswer answer = provider.answer(call);
        if (delivered) process->desk.answered(call, answer, now);
    }
    void run_posted() {
        while (!process->posted.empty()) {
            const auto task = process->posted.front();
            process->posted.pop_front();
            task();
        }
    }
    // Everything that can happen without time passing.
    void settle_now() {
        for (int round = 0; round < 8; ++round) {
            step();
            run_posted();
            while (!process->calls.empty()) answer_one();
            work();
        }
    }
    void run_for(milliseconds span, milliseconds stride = 1s) {
        for (milliseconds passed{0}; passed < span; passed += stride) {
            pass(stride);
            step();
            run_posted();
            while (!process->calls.empty()) answer_one();
            work();
        }
    }

    // Begins an attempt and has it answered.
    PaymentId begin(OrderId order, const BuyerId& buyer) {
        process->desk.begin(order, buyer, now, keep_payment());
        while (!process->calls.empty()) answer_one();
        EXPECT_TRUE(paid.has_value()) << (paid ? "" : paid.error().text());
        return paid ? paid->id : PaymentId{};
    }
    PaymentDesk::Paid keep_payment() {
        return [this](StoreResult<PaymentRecord> result) { paid = std::move(result); };
    }
    PaymentDesk::Done keep_order() {
        return [this](StoreResult<OrderRecord> result) { done = std::move(result); };
    }

    OrderRecord order(OrderId id) { return orders->reader().find_order(id)->value(); }
    OrderState state(OrderId id) { return order(id).state; }
    PaymentRecord payment(PaymentId id) { return orders->reader().find_payment(id)->value(); }
    Stock row() { return orders->reader().sales()->front().stock.front(); }
    Stock book() { return process->shard.book(ItemSlot{0})->stock(); }
    std::vector<EventKind> events() {
        std::vector<EventKind> kinds;
        for (const EventRecord& event : *orders->reader().events_after(0, 10'000))
            kinds.push_back(event.kind);
        return kinds;
    }

    // When nothing is left to do: money and goods agree, and so do book and records.
    void expect_settled() {
        std::map<OrderId, int> captured_of;
        std::map<PaymentId, PaymentState> known;
        ASSERT_TRUE(orders->reader()
                        .each_payment([&](const PaymentRecord& payment) {
                            known[payment.id] = payment.state;
                            if (provider.payments[payment.id].state == ProviderState::captured)
                                ++captured_of[payment.order];
                        })
                        .has_value());
        uint32_t sold = 0;
        OrderCounts counts{};
        ASSERT_TRUE(orders->reader()
                        .each_order([&](const OrderRecord& order) {
                            using enum OrderState;
                            ++counts[static_cast<size_t>(order.state)];
                            const bool is_settled = order.state == paid || order.state == expired ||
                                                    order.state == cancelled || order.state == refunded;
                            EXPECT_TRUE(is_settled) << name_of(order.state);
                            EXPECT_EQ(captured_of[order.id], order.state == paid ? 1 : 0)
                                << "captured means paid or refunded, never both, never neither";
                            if (order.hold == HoldState::sold) sold += order.units;
                            if (order.state == paid) {
                                EXPECT_EQ(known[*order.payment], PaymentState::captured);
                            }
                        })
                        .has_value());
        const Stock stock = row();
        EXPECT_EQ(stock.units_available + stock.units_held + stock.units_sold, stock.units_total);
        EXPECT_EQ(stock.units_held, 0u);
        EXPECT_EQ(stock.units_sold, sold);
        EXPECT_EQ(book(), stock) << "the book is what the records say";
        EXPECT_EQ(process->tally.orders(), counts);
    }

    Instant now = t0 + 1s;
    Uptime uptime = 1min;
    PaymentDesk::Options options{.enabled = true};
    TemporaryFolder folder;
    std::unique_ptr<SqliteOrders> orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    std::unique_ptr<SqliteLedger> ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    std::unique_ptr<SqliteLedgerReader> reader =
        std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    FakeProvider provider;
    std::unique_ptr<Process> process;
    ReserveOutcome outcome{};
    StoreResult<PaymentRecord> paid{StoreError{StoreErrc::unavailable, "not answered", ""}};
    StoreResult<OrderRecord> done{StoreError{StoreErrc::unavailable, "not answered", ""}};

private:
    int64_t last_id() {
        return std::max(static_cast<int64_t>(*orders->reader().last_order()),
                        static_cast<int64_t>(*orders->reader().last_payment()));
    }
    void deliver(std::span<const PurchaseReply> replies) override { outcome = replies.back().answer.outcome; }
};

}  // namespace doorbuster::testing
