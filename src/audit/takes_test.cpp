#include "audit/takes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/contract_testing.hpp"

namespace doorbuster::audit {
namespace {

using namespace doorbuster::testing;
using enum Weight;
using ::testing::ElementsAre;

// A ledger as the gates and coordinators of a cluster write it.
class TakesTest : public ::testing::Test {
protected:
    void take(uint32_t number, uint64_t epoch, uint64_t sequence, uint64_t partition = 0) {
        LedgerEntry one = entry(number);
        one.epoch = epoch;
        one.acceptance.sequence = sequence;
        add({.entry = one}, partition);
    }
    void seal(uint64_t epoch, uint64_t partition = 0) {
        add({.entry = {}, .seal = Seal{SaleId("phone-drop"), ItemId("phone"), epoch}}, partition);
    }
    std::vector<Weight> weights() const { return weigh(ledger_); }

private:
    void add(LedgerRecord record, uint64_t partition) {
        record.position = LedgerPlace{partition, ledger_.size() + 1}.number();
        ledger_.push_back(std::move(record));
    }
    std::vector<LedgerRecord> ledger_;
};

TEST_F(TakesTest, ATakeThatStandsTwiceCountsOnce) {
    take(1, 2, 1);
    take(2, 2, 2);
    take(1, 2, 1);
    EXPECT_THAT(weights(), ElementsAre(counts, counts, again));
}

TEST_F(TakesTest, WhereThereIsOneBookNothingStandsTwice) {
    take(1, 0, 1);
    take(1, 0, 1);
    EXPECT_THAT(weights(), ElementsAre(counts, taken_twice));
}

TEST_F(TakesTest, WhatStandsBehindItsSealTookNothing) {
    take(1, 2, 1);
    seal(3);
    take(2, 2, 2);
    take(1, 2, 1);
    take(3, 4, 1);
    EXPECT_THAT(weights(), ElementsAre(counts, none, late, again, counts))
        << "a repeat of what counts is a repeat, before or behind the SEAL";
}

TEST_F(TakesTest, WhoWinsUnderALaterEpochIsNotLateAnyMore) {
    seal(3);
    take(1, 2, 1);
    take(1, 4, 7);
    take(1, 2, 1);
    EXPECT_THAT(weights(), ElementsAre(none, again, counts, again));
}

TEST_F(TakesTest, ASealClosesItsOwnPartitionOnly) {
    seal(3, 0);
    take(1, 2, 1, 1);
    EXPECT_THAT(weights(), ElementsAre(none, counts));
}

TEST_F(TakesTest, ASecondTakeOfOnePurchaseIsToldApartFromARepeat) {
    take(1, 2, 1);
    take(1, 2, 5);
    seal(3);
    take(1, 4, 1);
    EXPECT_THAT(weights(), ElementsAre(counts, taken_twice, none, taken_twice))
        << "a purchase that was placed is known to the next epoch";
}

}  // namespace
}  // namespace doorbuster::audit
