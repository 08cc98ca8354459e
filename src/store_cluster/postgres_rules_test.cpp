// The order worker's rules for a ledger that many write: repeats, records that come behind a SEAL, and a
// Redis that has lost what it had acknowledged.
#include <gtest/gtest.h>

#include "store/contract_testing.hpp"
#include "store/row_words.hpp"
#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class PostgresRules : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(orders->create_sale(phone_drop(10, 1), SaleState::scheduled, t0).has_value());
        rebuild();
    }
    // The epoch that is open afterwards: 2, 4, 6 and so on.
    void rebuild() {
        const auto closed = epochs.close(sale, item, epoch);
        ASSERT_TRUE(closed.has_value() && closed->has_value());
        const auto cut = epochs.cut(sale, item, **closed);
        ASSERT_TRUE(cut.has_value() && cut->has_value());
        epoch = (*cut)->epoch;
        ASSERT_TRUE(*epochs.open(sale, item, epoch, "redis"));
    }

    void close_sale() {
        for (const SaleState state :
             {SaleState::warming, SaleState::ready, SaleState::open, SaleState::closed}) {
            SaleRecord record = orders->reader().sales()->front();
            record.state = state;
            ASSERT_TRUE(orders->change_sale(record, false, t0).has_value());
        }
    }

    void accept(uint32_t id, const BuyerId& buyer, uint64_t under, uint64_t sequence) {
        LedgerEntry one = entry(id, buyer);
        one.epoch = under;
        one.acceptance.sequence = sequence;
        batch.push_back(placement(++last, one));
    }
    void seal(uint64_t up_to) {
        batch.push_back({{.position = ++last, .entry = {}, .seal = Seal{sale, item, up_to}}, OrderId{}});
    }
    std::vector<Placed> place() {
        const auto placed = orders->place(last - batch.size(), batch, t0);
        batch.clear();
        EXPECT_TRUE(placed.has_value()) << placed.error().text();
        return placed ? *placed : std::vector<Placed>();
    }
    std::vector<Placed> place_one_by_one() {
        std::vector<Placed> all;
        auto whole = std::exchange(batch, {});
        last -= whole.size();
        for (Placement& one : whole) {
            batch = {std::move(one)};
            ++last;
            all.push_back(place().at(0));
        }
        return all;
    }

    Stock stock() { return orders->reader().sales()->front().stock.front(); }
    int64_t count(std::string_view sql) { return connection.read_integer(sql); }
    std::string reason_of(uint32_t id) {
        const auto found = orders->reader().find_purchase(purchase(id));
        EXPECT_TRUE(found.has_value());
        return *found ? (*found)->reason : "unknown";
    }

    const SaleId sale{"phone-drop"};
    const ItemId item{"phone"};
    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    PostgresEpochs epochs{connection};
    uint64_t epoch = 0, last = 0;
    std::vector<Placement> batch;
};

using enum Placed;

TEST_F(PostgresRules, ATakeThatStandsInTheLedgerTwiceBecomesOneOrder) {
    accept(1, alice, epoch, 1);
    accept(1, alice, epoch, 1);
    EXPECT_EQ(place(), (std::vector{ordered, known_before}));
    accept(1, alice, epoch, 1);
    EXPECT_EQ(place(), (std::vector{known_before}));
    EXPECT_EQ(stock(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(count("SELECT count(*) FROM rebuild_requests"), 0) << "a repeat is no loss";
}

TEST_F(PostgresRules, APurchaseThatWasTakenTwiceInAnOpenEpochAsksForARebuild) {
    accept(1, alice, epoch, 1);
    accept(2, bob, epoch, 2);
    ASSERT_EQ(place(), (std::vector{ordered, ordered}));
    accept(2, bob, epoch, 1);
    EXPECT_EQ(place(), (std::vector{known_before})) << "it has its order";
    EXPECT_EQ(count("SELECT count(*) FROM rebuild_requests WHERE epoch = 2"), 1);
    EXPECT_EQ(stock().units_held, 2u);
}

TEST_F(PostgresRules, APurchaseThatWasTakenAgainAfterARebuildAsksForNothing) {
    accept(1, alice, epoch, 1);
    ASSERT_EQ(place(), (std::vector{ordered}));
    rebuild();
    accept(1, alice, 2, 7);
    EXPECT_EQ(place(), (std::vector{known_before}));
    EXPECT_EQ(count("SELECT count(*) FROM rebuild_requests"), 0) << "that epoch is over";
}

TEST_F(PostgresRules, AUnitThatWasGivenToTwoAsksForARebuildAndBothAreServedWhileThereAreUnits) {
    accept(1, alice, epoch, 1);
    accept(2, bob, epoch, 1);
    EXPECT_EQ(place(), (std::vector{ordered, ordered}));
    accept(3, carol, epoch, 1);
    EXPECT_EQ(place(), (std::vector{ordered}));
    EXPECT_EQ(count("SELECT count(*) FROM rebuild_requests"), 1) << "once for an epoch";
    EXPECT_EQ(stock(), (Stock{10, 7, 3, 0}));
}

TEST_F(PostgresRules, WhatFindsNoUnitOrNoRightIsCancelledAndItsUnitsGoBackUnderTheEpochOfTheStockRow) {
    connection.run("UPDATE items SET units_total = 1, units_available = 1");
    accept(1, alice, epoch, 1);
    accept(2, alice, epoch, 2);
    accept(3, bob, epoch, 3);
    ASSERT_TRUE(epochs.close(sale, item, epoch).has_value());  // its records are still on their way
    EXPECT_EQ(place(), (std::vector{ordered, cancelled, cancelled}));
    EXPECT_EQ(reason_of(2), reason_limit);
    EXPECT_EQ(reason_of(3), reason_no_unit);
    EXPECT_EQ(stock(), (Stock{1, 0, 1, 0}));
    EXPECT_EQ(count("SELECT count(*) FROM releases WHERE epoch = 3"), 2) << "the one that the row shows now";
    EXPECT_EQ(count("SELECT count(*) FROM events WHERE kind = 'purchase.cancelled'"), 2);
    accept(3, bob, epoch, 3);
    EXPECT_EQ(place(), (std::vector{known_before})) << "and it stays cancelled";
}

TEST_F(PostgresRules, ASealOfAnItemThatIsNotThereIsADeadLetterLikeAnyOtherRecord) {
    const LedgerRecord stray{.position = 1, .entry = {}, .seal = Seal{sale, ItemId("unheard-of"), 2}};
    const std::vector<Placement> alone{{stray, OrderId{}}};
    EXPECT_EQ(orders->place(0, alone, t0).error().code, StoreErrc::not_allowed);
    ASSERT_TRUE(orders->bury(0, stray, "no such item", t0).has_value());
    EXPECT_EQ(orders->reader().dead_letters(0, 10)->at(0).record,
              "seal sale=phone-drop item=unheard-of epoch=2");
}

// One that comes behind the SEAL, in one batch and in many: the end is the same.
class PostgresSeals : public PostgresRules, public ::testing::WithParamInterface<bool> {
protected:
    std::vector<Placed> place_all() { return GetParam() ? place() : place_one_by_one(); }
};

TEST_P(PostgresSeals, WhatComesBehindTheSealTakesNothingAndIsCancelledAtTheNextOne) {
    accept(1, alice, 2, 1);
    seal(2);
    accept(2, bob, 2, 2);
    EXPECT_EQ(place_all(), (std::vector{ordered, sealed, late}));
    EXPECT_EQ(stock(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(reason_of(2), "unknown") << "nothing is known of it yet: its buyer may still win";
    EXPECT_TRUE(*epochs.is_sealed(sale, item, 2, std::vector<int64_t>{0}));
    EXPECT_FALSE(*epochs.is_sealed(sale, item, 3, std::vector<int64_t>{0}));

    seal(4);
    EXPECT_EQ(place_all(), (std::vector{sealed}));
    EXPECT_EQ(reason_of(2), reason_late);
    EXPECT_EQ(stock(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(count("SELECT count(*) FROM releases"), 0) << "it never had a unit that could come back";
    EXPECT_EQ(count("SELECT count(*) FROM late_records"), 0);
    EXPECT_EQ(count("SELECT count(*) FROM events WHERE kind = 'purchase.cancelled'"), 1);
}

TEST_P(PostgresSeals, OneThatContinuesAnotherIsCancelledWithoutAWordUnderItsFreshId) {
    accept(1, alice, 2, 1);
    seal(2);
    accept(2, alice, 2, 2);
    batch.back().record.entry->replaces = purchase(1);
    EXPECT_EQ(place_all(), (std::vector{ordered, sealed, late}));
    seal(4);
    accept(3, alice, 4, 1);
    batch.back().record.entry->replaces = purchase(1);
    close_sale();
    EXPECT_EQ(place_all(), (std::vector{sealed, late}));
    EXPECT_EQ(reason_of(2), reason_late);
    EXPECT_EQ(count("SELECT count(*) FROM events WHERE kind = 'purchase.cancelled'"), 0);
    EXPECT_EQ(count("SELECT count(*) FROM stock_moves WHERE kind = 'released'"), 0);
}

TEST_P(PostgresSeals, WhoWinsWithTheSameKeyInTheNextEpochIsNotCancelled) {
    seal(2);
    accept(2, bob, 2, 1);
    accept(2, bob, 2, 1);
    accept(2, bob, 4, 1);
    seal(4);
    EXPECT_EQ(place_all(), (std::vector{sealed, late, late, ordered, sealed}));
    EXPECT_EQ(reason_of(2), "");
    EXPECT_EQ(stock(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(count("SELECT count(*) FROM late_records"), 0);
    EXPECT_EQ(count("SELECT count(*) FROM events WHERE kind = 'purchase.cancelled'"), 0);
}

TEST_P(PostgresSeals, OneThatIsRepeatedClosesNothingMore) {
    seal(2);
    accept(2, bob, 2, 1);
    seal(2);
    seal(0);
    EXPECT_EQ(place_all(), (std::vector{sealed, late, sealed, sealed}));
    EXPECT_EQ(reason_of(2), "unknown");
    EXPECT_EQ(count("SELECT epoch FROM seals"), 2);
}

TEST_P(PostgresSeals, WhileASaleIsEndingALateOneMayBeFurtherOn) {
    rebuild();
    close_sale();
    seal(2);
    accept(2, bob, 2, 1);  // late
    accept(2, bob, 4, 1);  // its buyer asked again, and heard yes
    EXPECT_EQ(place_all(), (std::vector{sealed, late, ordered}));
    EXPECT_EQ(reason_of(2), "");
    ASSERT_TRUE((*epochs.close(sale, item, epoch)).has_value());
    seal(4);
    EXPECT_EQ(place_all(), (std::vector{sealed}));
    EXPECT_EQ(reason_of(2), "");
    EXPECT_EQ(stock(), (Stock{10, 9, 1, 0}));
}

TEST_P(PostgresSeals, BehindTheLastSealOfAClosedSaleThereIsNoNextOne) {
    close_sale();
    ASSERT_TRUE((*epochs.close(sale, item, epoch)).has_value());
    seal(2);
    accept(2, bob, 2, 1);
    accept(2, bob, 2, 1);
    EXPECT_EQ(place_all(), (std::vector{sealed, late, known_before}));
    EXPECT_EQ(reason_of(2), reason_late);
    EXPECT_EQ(stock().units_available, 10u);
}

TEST_P(PostgresSeals, OfOneItemConcernsNoOther) {
    Sale two = phone_drop(10, 1);
    two.id = SaleId("other-drop");
    ASSERT_TRUE(orders->create_sale(two, SaleState::scheduled, t0).has_value());
    batch.push_back({{.position = ++last, .entry = {}, .seal = Seal{two.id, item, 2}}, OrderId{}});
    accept(1, alice, 2, 1);
    EXPECT_EQ(place_all(), (std::vector{sealed, ordered}));
}

INSTANTIATE_TEST_SUITE_P(, PostgresSeals, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "InOneBatch" : "OneByOne"; });

}  // namespace
}  // namespace doorbuster
