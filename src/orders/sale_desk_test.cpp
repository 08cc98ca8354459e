#include "orders/sale_desk.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"
#include "shard/shard.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

// The real books, reached without a thread.
struct DirectBooks final : BookControl {
    explicit DirectBooks(Shard& to) : shard(to) {}
    Shard& shard;
    void control(ControlCommand command, std::function<void()> applied) override {
        shard.apply(command);
        if (applied) applied();
    }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)> answered) override {
        answered({});
    }
};

class SaleDeskTest : public ::testing::Test {
protected:
    SaleRecord create(const Sale& sale, bool as_draft = false) {
        desk.create(sale, as_draft, t0 - 2h, keep());
        EXPECT_TRUE(last.has_value());
        return *last;
    }
    SaleDesk::Done keep() {
        return [this](StoreResult<SaleRecord> result) { last = std::move(result); };
    }
    StoreResult<SaleRecord> act(SaleVerb verb, Instant now = t0) {
        desk.act(SaleId("phone-drop"), verb, {}, now, keep());
        return last;
    }
    SaleState state() const { return desk.find(SaleId("phone-drop"))->state; }
    Phase phase() const { return phase_in(catalogue->find("phone-drop")->state); }

    TemporaryFolder folder;
    std::unique_ptr<SqliteOrders> orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    std::unique_ptr<SqliteLedger> ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    Shard shard{*ledger};
    DirectBooks books{shard};
    std::shared_ptr<const Catalogue> catalogue;
    SaleDesk desk{*orders, books, [this](auto next, const auto& shown) {
                      catalogue = std::move(next);
                      shown();
                  }};
    StoreResult<SaleRecord> last{StoreError{StoreErrc::unavailable, "", ""}};
};

TEST_F(SaleDeskTest, TheClockTakesASaleThroughItsLife) {
    create(phone_drop());
    desk.tick(t0 - 31min, 0s);
    EXPECT_EQ(state(), SaleState::scheduled);
    desk.tick(t0 - 30min, 0s);
    EXPECT_EQ(state(), SaleState::ready);
    desk.tick(t0 - 1ms, 0s);
    EXPECT_EQ(state(), SaleState::ready);
    desk.tick(t0, 0s);
    EXPECT_EQ(state(), SaleState::open);
    desk.tick(t0 + 30min, 0s);
    EXPECT_EQ(state(), SaleState::closed);
    EXPECT_EQ(phase(), Phase::closed);
}

TEST_F(SaleDeskTest, ASaleThatACrashLeftWarmingGoesOn) {
    SaleRecord record = create(phone_drop());
    for (const bool by_the_clock : {true, false}) {
        record.state = SaleState::warming;
        ASSERT_TRUE(orders->change_sale(record, false, t0).has_value());
        Shard again(*ledger);
        DirectBooks other(again);
        SaleDesk restarted(*orders, other, [](const auto&, const auto& shown) { shown(); });
        ASSERT_TRUE(restarted.load().has_value());
        if (by_the_clock) {
            restarted.tick(t0 - 2h, 0s);
        } else {
            restarted.act(record.sale.id, SaleVerb::warm, {}, t0 - 2h, keep());
            EXPECT_TRUE(last.has_value());
        }
        EXPECT_EQ(restarted.find(record.sale.id)->state, SaleState::ready);
        record = *restarted.find(record.sale.id);
    }
}

// A desk whose backend has a say in when a sale is ready.
class SaleDeskWarmUpTest : public SaleDeskTest {
protected:
    WarmUpFinding finding(Severity severity) const {
        return {.check = "redis.eviction", .severity = severity, .what = "it evicts", .mend = "noeviction"};
    }
    StoreResult<SaleRecord> say(SaleVerb verb, Instant now) {
        warmed.act(SaleId("phone-drop"), verb, {}, now, keep());
        return last;
    }
    SaleState state_now() const { return warmed.find(SaleId("phone-drop"))->state; }
    void SetUp() override {
        ASSERT_TRUE(orders->create_sale(phone_drop(), SaleState::scheduled, t0 - 2h).has_value());
        ASSERT_TRUE(warmed.load().has_value());
    }

    WarmUpFindings found{finding(Severity::failure)};
    int asked = 0, published = 0;
    SaleDesk warmed{*orders, books,
                    [this](auto next, const auto& shown) {
                        catalogue = std::move(next);
                        ++published;
                        shown();
                    },
                    [this](const SaleRecord& sale) {
                        EXPECT_EQ(sale.state, SaleState::warming);
                        ++asked;
                        return found;
                    }};
};

TEST_F(SaleDeskWarmUpTest, ASaleStaysWarmingUntilItsBackendIsReadyAlsoBeyondItsTime) {
    warmed.tick(t0 - 30min, 1s);
    EXPECT_EQ(state_now(), SaleState::warming);
    for (const Instant now : {t0 - 1min, t0, t0 + 1min}) {
        warmed.tick(now, Uptime(100s) + (now - (t0 - 1min)));
        EXPECT_EQ(state_now(), SaleState::warming);
        EXPECT_EQ(phase(), Phase::not_ready) << "buyers hear not_open";
    }
    EXPECT_EQ(say(SaleVerb::open, t0 + 1min).error().code, StoreErrc::not_allowed);
    found.clear();
    warmed.tick(t0 + 2min, 1h);
    EXPECT_EQ(state_now(), SaleState::ready);
    warmed.tick(t0 + 2min, 1h);
    EXPECT_EQ(state_now(), SaleState::open);
}

TEST_F(SaleDeskWarmUpTest, TheOperatorHearsThatItIsWarmingAndWhatHoldsIt) {
    const auto said = say(SaleVerb::warm, t0 - 1h);
    ASSERT_TRUE(said.has_value());
    EXPECT_EQ(said->state, SaleState::warming);
    EXPECT_EQ(catalogue->find("phone-drop")->state, SaleState::warming);
    ASSERT_EQ(warmed.warm_up_of(SaleId("phone-drop")).size(), 1u);
    EXPECT_EQ(warmed.warm_up_of(SaleId("phone-drop")).front().mend, "noeviction");
    EXPECT_EQ(say(SaleVerb::warm, t0 - 1h)->version, said->version) << "said again it changes nothing";

    found.clear();
    EXPECT_EQ(say(SaleVerb::warm, t0 - 1h)->state, SaleState::ready);
    EXPECT_TRUE(warmed.warm_up_of(SaleId("phone-drop")).empty());
}

TEST_F(SaleDeskWarmUpTest, AWarningHoldsNobodyAndIsToldUntilTheSaleOpens) {
    found = {finding(Severity::warning)};
    EXPECT_EQ(say(SaleVerb::warm, t0 - 1h)->state, SaleState::ready);
    EXPECT_EQ(warmed.warm_up_of(SaleId("phone-drop")).size(), 1u);
    EXPECT_EQ(say(SaleVerb::open, t0 - 1h)->state, SaleState::open);
    EXPECT_TRUE(warmed.warm_up_of(SaleId("phone-drop")).empty());
    EXPECT_TRUE(warmed.warm_up_of(SaleId("unheard-of")).empty());
}

TEST_F(SaleDeskWarmUpTest, TheClockAsksOnceASecondAndTroublesNoGateMeanwhile) {
    warmed.tick(t0 - 30min, 1s);
    const int published_before = published;
    for (int tick = 1; tick <= 40; ++tick) warmed.tick(t0 - 30min, 1s + tick * 50ms);
    EXPECT_EQ(asked, 3) << "at 1, 2 and 3 s";
    EXPECT_EQ(published, published_before);
}

TEST_F(SaleDeskTest, TheOperatorsWordOpensEarlyAndTheTimeSaysSo) {
    create(phone_drop());
    EXPECT_EQ(act(SaleVerb::open, t0 - 1h).error().code, StoreErrc::not_allowed) << "it is not warm";
    EXPECT_TRUE(act(SaleVerb::warm, t0 - 1h).has_value());
    EXPECT_TRUE(act(SaleVerb::open, t0 - 1h).has_value());
    EXPECT_EQ(last->sale.opens_at, t0 - 1h);
    EXPECT_EQ(state(), SaleState::open);
}

TEST_F(SaleDeskTest, AVerbSaidTwiceChangesNothingTheSecondTime) {
    create(phone_drop());
    for (const SaleVerb verb : {SaleVerb::warm, SaleVerb::open, SaleVerb::pause, SaleVerb::resume}) {
        const uint64_t version = act(verb)->version;
        EXPECT_EQ(act(verb)->version, version);
    }
    const uint64_t version = act(SaleVerb::close)->version;
    EXPECT_EQ(act(SaleVerb::close)->version, version);
    EXPECT_EQ(act(SaleVerb::resume).error().code, StoreErrc::not_allowed);
}

// Far away: they have not answered yet.
struct LateBooks final : BookControl {
    std::vector<std::function<void()>> waiting;
    void control(ControlCommand, std::function<void()> applied) override {
        if (applied) waiting.push_back(std::move(applied));
    }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)> answered) override {
        answered({});
    }
};

TEST_F(SaleDeskTest, AVerbThatTookEffectIsNotAnsweredBeforeTheGatesShowIt) {
    LateBooks late;
    ASSERT_TRUE(orders->create_sale(phone_drop(), SaleState::ready, t0).has_value());
    std::shared_ptr<const Catalogue> shown;
    SaleDesk other(*orders, late, [&](auto next, const auto& when_shown) {
        shown = std::move(next);
        when_shown();
    });
    ASSERT_TRUE(other.load().has_value());
    other.tick(t0, 0s);  // opens it; the books have not heard of it yet
    bool answered = false;
    other.act(SaleId("phone-drop"), SaleVerb::open, {}, t0, [&](const auto& result) {
        answered = true;
        EXPECT_TRUE(result.has_value());
        EXPECT_EQ(shown->find("phone-drop")->state, SaleState::open);
    });
    EXPECT_FALSE(answered);
    for (const auto& applied : late.waiting) applied();
    EXPECT_TRUE(answered);
}

TEST_F(SaleDeskTest, AnAnswerThatComesLateTakesNothingBackThatTheGatesShow) {
    create(phone_drop());
    act(SaleVerb::warm);
    act(SaleVerb::open);
    Sale second = phone_drop();
    second.id = SaleId("tablet-drop");
    LateBooks late;
    std::shared_ptr<const Catalogue> shown;
    SaleDesk other(*orders, late, [&](auto next, const auto& when_shown) {
        shown = std::move(next);
        when_shown();
    });
    ASSERT_TRUE(other.load().has_value());
    int answered = 0;
    const auto count = [&](const auto& result) {
        EXPECT_TRUE(result.has_value());
        ++answered;
    };
    other.act(SaleId("phone-drop"), SaleVerb::pause, {}, t0, count);
    other.create(second, false, t0, count);
    ASSERT_EQ(late.waiting.size(), 2u);

    late.waiting[1]();  // the book that was told last is the first to answer
    EXPECT_EQ(answered, 1);
    ASSERT_NE(shown->find("tablet-drop"), nullptr);
    late.waiting[0]();
    EXPECT_EQ(answered, 2);
    EXPECT_NE(shown->find("tablet-drop"), nullptr);
    EXPECT_EQ(shown->find("phone-drop")->state, SaleState::paused);
}

TEST_F(SaleDeskTest, APausedSaleCanBeClosed) {
    create(phone_drop());
    for (const SaleVerb verb : {SaleVerb::warm, SaleVerb::open, SaleVerb::pause, SaleVerb::close}) {
        EXPECT_TRUE(act(verb).has_value());
    }
    EXPECT_EQ(state(), SaleState::closed);
}

TEST_F(SaleDeskTest, AnOldVersionIsAConflict) {
    const SaleRecord created = create(phone_drop());
    desk.act(created.sale.id, SaleVerb::warm, created.version + 7, t0, keep());
    EXPECT_EQ(last.error().code, StoreErrc::conflict);
    EXPECT_EQ(state(), SaleState::scheduled);
}

TEST_F(SaleDeskTest, ARestockReachesBookBoardAndCatalogue) {
    const SaleRecord created = create(phone_drop(5));
    desk.restock(created.sale.id, ItemId("phone"), 3, created.version, t0, keep());
    ASSERT_TRUE(last.has_value());
    const ListedItem& item = catalogue->find("phone-drop")->items.front();
    EXPECT_EQ(item.item.units_total, 8u);
    EXPECT_EQ(item.board->stock(), (Stock{8, 8, 0, 0}));
    EXPECT_EQ(shard.book(item.slot)->stock(), (Stock{8, 8, 0, 0}));
    desk.restock(created.sale.id, ItemId("phone"), 3, created.version, t0, keep());
    EXPECT_EQ(last.error().code, StoreErrc::conflict) << "the same word heard twice counts once";
}

TEST_F(SaleDeskTest, BeforeTheWarmUpAnythingMayChangeLaterOnlyTitleAndEnd) {
    const SaleRecord created = create(phone_drop(5), true);
    Sale changed = created.sale;
    changed.items.front().units_total = 7;
    changed.opens_at = t0 + 1min;
    desk.change(changed, true, created.version, t0 - 2h, keep());
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->state, SaleState::scheduled);
    const ListedItem& item = catalogue->find("phone-drop")->items.front();
    EXPECT_EQ(item.board->stock(), (Stock{7, 7, 0, 0}));
    EXPECT_EQ(shard.book(ItemSlot{0}), nullptr) << "the replaced book is gone";
    EXPECT_NE(shard.book(item.slot), nullptr);

    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    changed.closes_at += 1h;
    desk.change(changed, false, last->version, t0, keep());
    ASSERT_TRUE(last.has_value());
    changed.items.front().price_minor = 1;
    desk.change(changed, false, last->version, t0, keep());
    EXPECT_EQ(last.error().code, StoreErrc::not_allowed);
}

TEST_F(SaleDeskTest, TheShopHearsOnceThatTheLastUnitIsGoneAndOnceThatUnitsAreBack) {
    const SaleRecord created = create(phone_drop(1));
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());
    auto told = [&](SaleDesk& by, Uptime from) {
        for (int tick = 0; tick < 40; ++tick) by.tick(t0 + 1min, from + tick * 50ms);
        std::vector<EventKind> kinds;
        for (const EventRecord& event : *orders->reader().events_after(0, 100)) {
            if (event.kind == EventKind::sale_sold_out || event.kind == EventKind::sale_available)
                kinds.push_back(event.kind);
        }
        return kinds;
    };
    EXPECT_TRUE(told(desk, 1min).empty());
    const ItemBoard& board = *catalogue->find("phone-drop")->items.front().board;
    const ReinstateCommand taken{{created.sale.id, ItemId("phone"), purchase(1), purchase(9), alice, 1},
                                 [](const auto&) {}};
    ASSERT_TRUE(shard.decide({}, t0 + 1min, {&taken, 1}).has_value());
    ASSERT_TRUE(board.sold_out());
    EXPECT_EQ(told(desk, 2min), std::vector{EventKind::sale_sold_out});
    shard.apply(ReleasePurchase{created.sale.id, ItemId("phone"), purchase(1)});
    EXPECT_EQ(told(desk, 3min), (std::vector{EventKind::sale_sold_out, EventKind::sale_available}));
}

TEST_F(SaleDeskTest, AUnitThatComesBackAndGoesAtOnceIsNoNews) {
    const SaleRecord created = create(phone_drop(1));
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());
    for (uint32_t turn = 1; turn <= 20; ++turn) {
        const ReinstateCommand taken{
            {created.sale.id, ItemId("phone"), purchase(turn), purchase(99), alice, 1}, [](const auto&) {}};
        ASSERT_TRUE(shard.decide({}, t0 + 1min, {&taken, 1}).has_value());
        desk.tick(t0 + 1min, 1min + turn * 1s);
        shard.apply(ReleasePurchase{created.sale.id, ItemId("phone"), purchase(turn)});
        desk.tick(t0 + 1min, 1min + turn * 1s + 500ms);
    }
    for (const EventRecord& event : *orders->reader().events_after(0, 100))
        EXPECT_NE(event.kind, EventKind::sale_sold_out);
}

TEST_F(SaleDeskTest, OnlyAClosedSaleIsReconciledAndThenItsBooksAreGone) {
    const SaleRecord created = create(phone_drop(5));
    desk.reconciled(created.sale.id, t0, keep());
    EXPECT_EQ(last.error().code, StoreErrc::not_allowed);
    for (const SaleVerb verb : {SaleVerb::warm, SaleVerb::open, SaleVerb::close})
        ASSERT_TRUE(act(verb).has_value());
    const ItemSlot slot = catalogue->find("phone-drop")->items.front().slot;
    EXPECT_NE(shard.book(slot), nullptr);
    for (int time = 0; time < 2; ++time) {
        desk.reconciled(created.sale.id, t0, keep());
        ASSERT_TRUE(last.has_value());
        EXPECT_EQ(last->state, SaleState::reconciled);
    }
    EXPECT_EQ(shard.book(slot), nullptr);
    EXPECT_EQ(catalogue->find("phone-drop")->items.front().board->stock(), (Stock{5, 5, 0, 0}));
    for (const SaleVerb verb : {SaleVerb::warm, SaleVerb::open, SaleVerb::close})
        EXPECT_EQ(act(verb).error().code, StoreErrc::not_allowed);
    Shard again(*ledger);
    DirectBooks other(again);
    SaleDesk restarted(*orders, other, [&](auto next, const auto&) { catalogue = std::move(next); });
    ASSERT_TRUE(restarted.load().has_value());
    EXPECT_EQ(again.book(ItemSlot{0}), nullptr);
    EXPECT_EQ(catalogue->find("phone-drop")->items.front().board->stock(), (Stock{5, 5, 0, 0}));
}

TEST_F(SaleDeskTest, ARestartFindsEverySaleAsItWas) {
    create(phone_drop(5));
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());
    Shard again(*ledger);
    DirectBooks other(again);
    std::shared_ptr<const Catalogue> shown;
    SaleDesk restarted(*orders, other, [&](auto next, const auto&) { shown = std::move(next); });
    ASSERT_TRUE(restarted.load().has_value());
    const ListedSale* sale = shown->find("phone-drop");
    ASSERT_NE(sale, nullptr);
    EXPECT_EQ(sale->state, SaleState::open);
    EXPECT_EQ(again.book(sale->items.front().slot)->stock(), (Stock{5, 5, 0, 0}));
}

TEST_F(SaleDeskTest, TheStockPolicyReachesTheBooksAndIsFixedOnceTheSaleIsWarm) {
    Sale sale = phone_drop(1);
    create(sale);
    sale.stock_policy = StockPolicy::at_payment;
    sale.items[0].orders_max = 1;
    desk.change(sale, false, desk.find(sale.id)->version, t0 - 1h, keep());
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(orders->reader().sales()->front().sale, sale);
    sale.stock_policy = StockPolicy::at_order;
    sale.items[0].orders_max = 0;
    desk.change(sale, false, desk.find(sale.id)->version, t0 - 1h, keep());
    ASSERT_TRUE(last.has_value());
    sale.stock_policy = StockPolicy::at_payment;  // the items stay, and their books with them
    desk.change(sale, false, desk.find(sale.id)->version, t0 - 1h, keep());
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(orders->reader().sales()->front().sale, sale);
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());

    sale.stock_policy = StockPolicy::reserve;
    desk.change(sale, false, desk.find(sale.id)->version, t0, keep());
    EXPECT_EQ(last.error().code, StoreErrc::not_allowed);
    const ListedItem& item = catalogue->find("phone-drop")->items.front();
    const auto buy = [&](uint32_t id, const BuyerId& buyer) {
        ASSERT_TRUE(
            shard.decide(std::vector<PurchaseCommand>{{item.slot, purchase(id), buyer, 1, 0, nullptr}}, t0)
                .has_value());
    };
    struct Deaf final : ReplySink {
        void deliver(std::span<const PurchaseReply>) override {}
    } deaf;
    shard.set_sinks({&deaf});
    buy(1, alice);
    EXPECT_FALSE(item.board->orders_full());
    buy(2, bob);
    EXPECT_TRUE(item.board->orders_full()) << "twice the units";
    EXPECT_EQ(item.board->stock(), (Stock{1, 1, 0, 0}));
}

// Two processes over the same records, each with books of its own.
class SharedSales : public SaleDeskTest {
protected:
    SharedSales() {
        desk.share();
        elsewhere.share();
        EXPECT_TRUE(desk.load().has_value());
        EXPECT_TRUE(elsewhere.load().has_value());
    }

    Shard other_shard{*ledger};
    DirectBooks other_books{other_shard};
    std::shared_ptr<const Catalogue> shown_elsewhere;
    SaleDesk elsewhere{*orders, other_books, [this](auto next, const auto& shown) {
                           shown_elsewhere = std::move(next);
                           shown();
                       }};
    const SaleId id{"phone-drop"};
};

TEST_F(SharedSales, WhatOneProcessRecordsTheOtherShows) {
    create(phone_drop());
    EXPECT_EQ(shown_elsewhere->find("phone-drop"), nullptr);
    ASSERT_TRUE(elsewhere.refresh().has_value());
    ASSERT_NE(shown_elsewhere->find("phone-drop"), nullptr);
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());
    ASSERT_TRUE(elsewhere.refresh().has_value());
    EXPECT_EQ(shown_elsewhere->find("phone-drop")->state, SaleState::open);
}

TEST_F(SharedSales, AVerbActsOnWhatIsRecordedNow) {
    create(phone_drop());
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());
    elsewhere.act(id, SaleVerb::pause, {}, t0, keep());
    ASSERT_TRUE(last.has_value()) << last.error().text();
    EXPECT_EQ(last->state, SaleState::paused);
    ASSERT_TRUE(act(SaleVerb::resume).has_value());
    EXPECT_EQ(state(), SaleState::open);
}

TEST_F(SharedSales, ARestockElsewhereKeepsTheBooksThatAreThere) {
    create(phone_drop(10));
    ASSERT_TRUE(act(SaleVerb::warm).has_value());
    ASSERT_TRUE(act(SaleVerb::open).has_value());
    ASSERT_TRUE(elsewhere.refresh().has_value());
    const ItemSlot slot = catalogue->find("phone-drop")->items[0].slot;
    elsewhere.restock(id, ItemId("phone"), 5, elsewhere.find(id)->version, t0, keep());
    ASSERT_TRUE(last.has_value()) << last.error().text();
    ASSERT_TRUE(desk.refresh().has_value());
    EXPECT_EQ(catalogue->find("phone-drop")->items[0].slot, slot);
    EXPECT_EQ(catalogue->find("phone-drop")->items[0].item.units_total, 15u);
}

TEST_F(SharedSales, OtherItemsBeforeTheWarmUpAreOtherBooks) {
    create(phone_drop(10));
    ASSERT_TRUE(elsewhere.refresh().has_value());
    Sale changed = phone_drop(20);
    changed.items[0].name = "Another phone";
    elsewhere.change(changed, false, elsewhere.find(id)->version, t0 - 1h, keep());
    ASSERT_TRUE(last.has_value()) << last.error().text();
    ASSERT_TRUE(desk.refresh().has_value());
    EXPECT_EQ(catalogue->find("phone-drop")->items[0].item.name, "Another phone");
}

}  // namespace
}  // namespace doorbuster
