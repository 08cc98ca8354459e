// What the operator hears of a warm-up that waits, and of books that live outside of the server.
#include "http/admin_sales.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "http/gate_fixture.hpp"
#include "sale/testing.hpp"
#include "shard/shard.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// A place for what these calls do not touch: nothing is ever built in it.
template <class T>
T& unused() {
    alignas(T) static std::byte room[sizeof(T)];
    return reinterpret_cast<T&>(room);
}

struct BooksHere final : BookControl {
    explicit BooksHere(Shard& to) : shard(to) {}
    Shard& shard;
    void control(ControlCommand command, std::function<void()> applied) override {
        shard.apply(command);
        if (applied) applied();
    }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)> answered) override {
        answered({});
    }
};

struct NoPurchases final : PurchaseDesk {
    Submitted submit(PurchaseCommand&&) override { return Submitted::rebuilding; }
    uint64_t units_waited_for(ItemSlot) override { return 0; }
    Figures figures() const override { return {}; }
    void set_pace(const Pacing&) override {}
};

// Books elsewhere, as far as their epochs go: each has as many behind it as the reason has letters.
struct BooksElsewhere final : BooksRebuild {
    StoreResult<std::vector<BookEpoch>> ask(const SaleId&, std::span<const ItemId> items,
                                            const std::string& reason) override {
        if (reason == "in vain") return StoreError{StoreErrc::unavailable, "asking for a rebuild", ""};
        std::vector<BookEpoch> asked;
        for (const ItemId& item : items) asked.push_back({item, reason.size(), true});
        return asked;
    }
    StoreResult<std::vector<BookEpoch>> epochs(const SaleId&) override {
        return std::vector<BookEpoch>{{ItemId("phone"), 16, false}};
    }
};

// The orders thread has a real desk over real stores; the gate is real, too.
class AdminSalesTest : public GateTest, Handler {
protected:
    void SetUp() override {
        ASSERT_TRUE(orders->create_sale(phone_drop(), SaleState::scheduled, t0).has_value());
        ASSERT_TRUE(desk.load().has_value());
        orders_thread.start();
        gate_ = std::make_unique<Gate>(uint16_t{0}, GateOptions{.listen = "127.0.0.1:0"});
        gate_->set_handler(*this);
        gate_->start();
    }
    void TearDown() override {
        orders_thread.stop(1min);
        GateTest::TearDown();
    }

    void handle(Exchange& exchange) override {
        {
            std::lock_guard lock(mutex);
            sales.set_catalogue(catalogue);
        }
        const std::string_view path = exchange.request().path;
        if (path == "/status") return sales.status(exchange, "phone-drop");
        if (path == "/warm") return sales.act(exchange, "phone-drop", SaleVerb::warm);
        if (exchange.request().method == Method::post) return sales.rebuild(exchange, "phone-drop");
        sales.show_books(exchange, "phone-drop");
    }
    void purchase_decided(Exchange&, const PurchaseReply&) override {}

    Received ask(const std::string& bytes) { return connect().ask(bytes); }
    static std::string post_json(std::string_view path, std::string_view body) {
        return fmt::format(
            "POST {} HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\nContent-Length: "
            "{}\r\n\r\n{}",
            path, body.size(), body);
    }

    TemporaryFolder folder;
    std::unique_ptr<SqliteOrders> orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    std::unique_ptr<SqliteLedger> ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    Shard shard{*ledger};
    BooksHere books{shard};
    MonotonicClock clock{+[] { return t0 - 1h; }};
    std::mutex mutex;
    std::shared_ptr<const Catalogue> catalogue;  // guarded by mutex
    SaleDesk desk{*orders, books,
                  [this](auto next, const auto& shown) {
                      {
                          std::lock_guard lock(mutex);
                          catalogue = std::move(next);
                      }
                      shown();
                  },
                  [](const SaleRecord&) {
                      return WarmUpFindings{{.check = "redis.eviction",
                                             .what = "Redis may evict",
                                             .mend = "`CONFIG SET maxmemory-policy noeviction`"}};
                  }};
    OrdersThread orders_thread{*orders, nullptr, clock, 16, [](const StoreError&) { return false; }};
    NoPurchases purchases;
    LevelSwitch level{t0};
    Strikes strikes{64, {}};
    Burned burned{64};
    ImagePool images{2, {}, {}};
    Arrivals arrivals;
    BooksElsewhere elsewhere;
    Services services{.clock = clock,
                      .purchases = purchases,
                      .lookups = unused<Lookups>(),
                      .orders_thread = orders_thread,
                      .desk = desk,
                      .payments = unused<PaymentDesk>(),
                      .letters = unused<LettersDesk>(),
                      .orders = *orders,
                      .outbox = orders->outbox(),
                      .notifier = unused<Notifier>(),
                      .books = books,
                      .order_figures = [] { return OrderFigures{}; },
                      .rebuilds = &elsewhere,
                      .on_audit_thread = {},
                      .funnel_state = {level, strikes, burned, images, arrivals},
                      .funnel_rules = {},
                      .provider_secrets = {},
                      .admin_key = {},
                      .metrics_text = {},
                      .is_ready = [] { return true; }};
    Probe probe;
    Replies replies{services, probe};
    AdminSales sales{services, replies};
};

TEST_F(AdminSalesTest, AWarmUpThatIsHeldIsAnsweredAndItsStatusSaysByWhat) {
    EXPECT_THAT(ask(get("/status")).body, HasSubstr(R"("warm_up":[])")) << "it is scheduled";
    const Received warmed = ask(post("/warm", ""));
    EXPECT_EQ(warmed.status(), 200);
    EXPECT_THAT(warmed.body, HasSubstr(R"("state":"warming")"));
    EXPECT_THAT(ask(get("/status")).body,
                HasSubstr(R"("warm_up":[{"check":"redis.eviction","severity":"failure",)"
                          R"("what":"Redis may evict","mend":"`CONFIG SET maxmemory-policy noeviction`"}])"));
}

TEST_F(AdminSalesTest, ARebuildIsAskedForAndItsProgressTold) {
    ASSERT_EQ(ask(post("/warm", "")).status(), 200);
    const Received asked = ask(post_json("/rebuild", R"({"item":"phone","reason":"Redis was moved"})"));
    EXPECT_EQ(asked.status(), 202);
    EXPECT_TRUE(asked.has("Location: /v1/sales/phone-drop/rebuild"));
    EXPECT_EQ(asked.body, R"({"sale":"phone-drop","reason":"Redis was moved",)"
                          R"("items":[{"id":"phone","epoch":15,"state":"open"}]})");
    EXPECT_EQ(ask(get("/rebuild")).body,
              R"({"sale":"phone-drop","items":[{"id":"phone","epoch":16,"state":"rebuilding"}]})");
    EXPECT_EQ(ask(post("/rebuild", "")).status(), 202) << "the body may be left out";
}

TEST_F(AdminSalesTest, ARebuildThatCannotBeAskedForIsRefused) {
    EXPECT_EQ(ask(post("/rebuild", "")).status(), 409) << "a scheduled sale has no books yet";
    ASSERT_EQ(ask(post("/warm", "")).status(), 200);
    EXPECT_EQ(ask(post_json("/rebuild", R"({"item":"other"})")).status(), 404);
    EXPECT_EQ(ask(post_json("/rebuild", R"({"items":[]})")).status(), 422);
    EXPECT_EQ(ask(post_json("/rebuild", R"({"reason":"in vain"})")).status(), 503);
}

}  // namespace
}  // namespace doorbuster
