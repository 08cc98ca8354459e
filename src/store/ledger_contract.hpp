// What every ledger must do. An adapter's test instantiates both with a Fixture that has
//   Ledger& ledger();  LedgerReader& reader();
//   void reopen();  // closes and opens again, as a restart does
//   static const std::string& is_missing();  // optional: why it cannot be tested here
// A ledger that nobody appends to in batches passes what concerns readers.
#pragma once

#include <gtest/gtest.h>

#include "store/contract_testing.hpp"

namespace doorbuster {

template <class Fixture>
class LedgerReaderContract : public ::testing::Test, public Fixture {
protected:
    void SetUp() override {
        if constexpr (requires { Fixture::is_missing(); }) {
            if (!Fixture::is_missing().empty()) GTEST_SKIP() << Fixture::is_missing();
        }
    }
};

TYPED_TEST_SUITE_P(LedgerReaderContract);

TYPED_TEST_P(LedgerReaderContract, ReadsBackWhatWasAppendedInOrder) {
    using namespace testing;
    const std::vector<LedgerEntry> entries{entry(1), entry(2, bob), entry(3, carol, 2)};
    ASSERT_TRUE(this->ledger().append(entries).has_value());
    const auto records = this->reader().read_after(0, 100);
    ASSERT_TRUE(records.has_value());
    ASSERT_EQ(records->size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ((*records)[i].position, i + 1);
        ASSERT_TRUE((*records)[i].entry.has_value());
        EXPECT_EQ((*records)[i].entry->acceptance, entries[i].acceptance);
        EXPECT_EQ((*records)[i].entry->sale, entries[i].sale);
        EXPECT_EQ((*records)[i].entry->item, entries[i].item);
    }
}

TYPED_TEST_P(LedgerReaderContract, ReadsOnlyWhatIsBehindThePositionAndNotMoreThanAsked) {
    using namespace testing;
    for (uint32_t i = 1; i <= 5; ++i) {
        ASSERT_TRUE(this->ledger().append(std::vector{entry(i)}).has_value());
    }
    const auto records = this->reader().read_after(2, 2);
    ASSERT_TRUE(records.has_value());
    ASSERT_EQ(records->size(), 2u);
    EXPECT_EQ(records->front().position, 3u);
    EXPECT_TRUE(this->reader().read_after(5, 2)->empty());
}

TYPED_TEST_P(LedgerReaderContract, ItsEndIsTheLastPosition) {
    using namespace testing;
    EXPECT_EQ(*this->reader().end(), LedgerCut(0));
    ASSERT_TRUE(this->ledger().append(std::vector{entry(1), entry(2, bob)}).has_value());
    EXPECT_EQ(*this->reader().end(), LedgerCut(2));
}

TYPED_TEST_P(LedgerReaderContract, KeepsEverythingAcrossARestart) {
    using namespace testing;
    ASSERT_TRUE(this->ledger().append(std::vector{entry(1), entry(2, bob)}).has_value());
    this->reopen();
    ASSERT_TRUE(this->ledger().append(std::vector{entry(3, carol)}).has_value());
    const auto records = this->reader().read_after(0, 100);
    ASSERT_TRUE(records.has_value());
    ASSERT_EQ(records->size(), 3u);
    EXPECT_EQ(records->back().position, 3u);
}

TYPED_TEST_P(LedgerReaderContract, FindsARecordByItsPurchase) {
    using namespace testing;
    ASSERT_TRUE(this->ledger().append(std::vector{entry(1), entry(2, bob)}).has_value());
    const auto found = this->reader().find_after(0, purchase(2));
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->entry->acceptance.buyer, bob);
    const auto missing = this->reader().find_after(0, purchase(9));
    ASSERT_TRUE(missing.has_value());
    EXPECT_FALSE(missing->has_value());
}

TYPED_TEST_P(LedgerReaderContract, FindsWhateverIsBehindThePositionAndNothingElse) {
    using namespace testing;
    const auto is_found = [&](uint64_t position, uint32_t number) {
        const auto found = this->reader().find_after(position, purchase(number));
        EXPECT_TRUE(found.has_value());
        return found.has_value() && found->has_value() && (*found)->position == number &&
               (*found)->entry->acceptance.purchase == purchase(number);
    };
    EXPECT_FALSE(is_found(0, 1));
    for (uint32_t i = 1; i <= 40; ++i) ASSERT_TRUE(this->ledger().append(std::vector{entry(i)}).has_value());
    EXPECT_TRUE(is_found(0, 1));
    EXPECT_TRUE(is_found(0, 40));
    EXPECT_FALSE(is_found(30, 30));
    EXPECT_TRUE(is_found(30, 31));
    // The position rises while records come; a reader that was not asked for long has missed many.
    for (uint32_t i = 41; i <= 80; ++i) ASSERT_TRUE(this->ledger().append(std::vector{entry(i)}).has_value());
    EXPECT_FALSE(is_found(60, 35));
    EXPECT_FALSE(is_found(60, 60));
    EXPECT_TRUE(is_found(60, 61));
    EXPECT_TRUE(is_found(60, 80));
    EXPECT_FALSE(is_found(80, 80));
    EXPECT_TRUE(is_found(50, 51)) << "one who asks from further back finds what is there";
}

TYPED_TEST_P(LedgerReaderContract, FindsAmongManyAndForgetsThoseThatArePlaced) {
    using namespace testing;
    constexpr uint32_t many = 3000;
    std::vector<LedgerEntry> entries;
    for (uint32_t i = 1; i <= many; ++i) entries.push_back(entry(i));
    ASSERT_TRUE(this->ledger().append(entries).has_value());
    for (const uint32_t placed : {0u, 1u, many / 2, many - 1, many}) {
        for (const uint32_t number : {1u, placed + 1, many / 2 + 1, many}) {
            const auto found = this->reader().find_after(placed, purchase(number));
            ASSERT_TRUE(found.has_value());
            EXPECT_EQ(found->has_value(), number > placed && number <= many)
                << number << " behind " << placed;
        }
    }
}

TYPED_TEST_P(LedgerReaderContract, KeepsWhichPurchaseARecordContinues) {
    using namespace testing;
    std::vector entries{entry(1), entry(2, bob)};
    entries[1].replaces = purchase(1);
    ASSERT_TRUE(this->ledger().append(entries).has_value());
    this->reopen();
    ASSERT_TRUE(this->ledger().append(std::vector{entry(3, carol)}).has_value());
    const auto records = this->reader().read_after(0, 100);
    ASSERT_TRUE(records.has_value());
    ASSERT_EQ(records->size(), 3u);
    EXPECT_EQ((*records)[0].entry->replaces, std::nullopt);
    EXPECT_EQ((*records)[1].entry->replaces, purchase(1));
    EXPECT_EQ((*records)[2].entry->replaces, std::nullopt) << "one entry's must not stick to the next";
    EXPECT_EQ((*this->reader().find_after(1, purchase(2)))->entry->replaces, purchase(1));
}

REGISTER_TYPED_TEST_SUITE_P(LedgerReaderContract, ReadsBackWhatWasAppendedInOrder,
                            ReadsOnlyWhatIsBehindThePositionAndNotMoreThanAsked, ItsEndIsTheLastPosition,
                            KeepsEverythingAcrossARestart, FindsARecordByItsPurchase,
                            FindsWhateverIsBehindThePositionAndNothingElse,
                            FindsAmongManyAndForgetsThoseThatArePlaced, KeepsWhichPurchaseARecordContinues);

template <class Fixture>
class LedgerContract : public ::testing::Test, public Fixture {};

TYPED_TEST_SUITE_P(LedgerContract);

TYPED_TEST_P(LedgerContract, ABatchIsAllOrNothing) {
    using namespace testing;
    ASSERT_TRUE(this->ledger().append(std::vector{entry(1), entry(2)}).has_value());
    // Another item's first number is good; the other one is there already.
    LedgerEntry other_item = entry(3, carol), same_number = entry(4, bob);
    other_item.item = ItemId("case");
    other_item.acceptance.sequence = 1;
    same_number.acceptance.sequence = 2;
    EXPECT_FALSE(this->ledger().append(std::vector{other_item, same_number}).has_value());
    this->reopen();
    EXPECT_EQ(this->reader().read_after(0, 100)->size(), 2u);
    EXPECT_TRUE(this->ledger().append(std::vector{other_item, entry(3)}).has_value())
        << "neither was counted";
    EXPECT_EQ(this->reader().read_after(0, 100)->size(), 4u);
}

TYPED_TEST_P(LedgerContract, ASequenceNumberIsGivenOnce) {
    using namespace testing;
    ASSERT_TRUE(this->ledger().append(std::vector{entry(1), entry(2)}).has_value());
    this->reopen();
    LedgerEntry same_number = entry(3, bob);
    same_number.acceptance.sequence = entry(2).acceptance.sequence;
    EXPECT_FALSE(this->ledger().append(std::vector{same_number}).has_value());
    this->reopen();
    EXPECT_EQ(this->reader().read_after(0, 100)->size(), 2u);
    EXPECT_TRUE(this->ledger().append(std::vector{entry(3, bob)}).has_value());
}

TYPED_TEST_P(LedgerContract, SequenceNumbersRise) {
    using namespace testing;
    ASSERT_TRUE(this->ledger().append(std::vector{entry(1), entry(5)}).has_value());
    EXPECT_FALSE(this->ledger().append(std::vector{entry(3)}).has_value());
    this->reopen();
    EXPECT_FALSE(this->ledger().append(std::vector{entry(7), entry(6)}).has_value());
    this->reopen();
    EXPECT_EQ(this->reader().read_after(0, 100)->size(), 2u);
}

REGISTER_TYPED_TEST_SUITE_P(LedgerContract, ABatchIsAllOrNothing, ASequenceNumberIsGivenOnce,
                            SequenceNumbersRise);

}  // namespace doorbuster
