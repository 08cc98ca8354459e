#include "store_sqlite/ledger_tail.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/contract_testing.hpp"

namespace doorbuster {
namespace {

std::vector<LedgerEntry> entries(uint64_t first, uint64_t last) {
    std::vector<LedgerEntry> made;
    for (uint64_t i = first; i <= last; ++i) made.push_back(testing::entry(static_cast<uint32_t>(i)));
    return made;
}

TEST(LedgerTail, WhoComesFirstOrFromFurtherBackReadsTheFile) {
    LedgerTail tail;
    EXPECT_FALSE(tail.read_after(0, 10).has_value()) << "what stood in the ledger before is not here";
    tail.appended(entries(8, 9), 9);
    EXPECT_FALSE(tail.read_after(6, 10).has_value());
    const auto found = tail.read_after(7, 10);
    ASSERT_TRUE(found && found->size() == 2);
    EXPECT_EQ(found->front().position, 8u);
    EXPECT_EQ(found->back().entry->acceptance, testing::entry(9).acceptance);
}

TEST(LedgerTail, WhatTheReaderIsPastIsForgotten) {
    LedgerTail tail;
    tail.appended(entries(1, 5), 5);
    EXPECT_EQ(tail.read_after(0, 2)->size(), 2u);
    EXPECT_EQ(tail.read_after(2, 10)->size(), 3u);
    EXPECT_TRUE(tail.read_after(5, 10)->empty());
    EXPECT_FALSE(tail.read_after(2, 10).has_value());
    tail.appended(entries(6, 6), 6);
    EXPECT_EQ(tail.read_after(5, 10)->front().position, 6u);
}

TEST(LedgerTail, AGapHasTheFileRead) {
    LedgerTail tail;
    tail.appended(entries(1, 2), 2);
    tail.appended({}, 2);
    tail.appended(entries(5, 5), 5);  // 3 and 4 came from elsewhere
    EXPECT_FALSE(tail.read_after(2, 10).has_value());
    EXPECT_EQ(tail.read_after(4, 10)->size(), 1u);
}

TEST(LedgerTail, BeyondTheBoundTheOldestGiveWay) {
    LedgerTail tail;
    constexpr uint64_t half = LedgerTail::records_max / 2;
    for (uint64_t piece = 0; piece < 3; ++piece)
        tail.appended(entries(piece * half + 1, (piece + 1) * half), (piece + 1) * half);
    EXPECT_FALSE(tail.read_after(half - 1, 1).has_value());
    EXPECT_EQ(tail.read_after(half, 1)->front().position, half + 1);
}

// Whoever reads sees every record once and in order, while others come and while the oldest give way.
TEST(LedgerTail, ARushIsReadWithoutAGap) {
    LedgerTail tail;
    constexpr uint64_t last = 300'000, batch = 100;
    std::atomic<bool> is_over = false;
    tail.appended(entries(1, batch), batch);
    std::jthread owner([&] {
        std::vector<LedgerEntry> one(batch, testing::entry(1));
        for (uint64_t at = batch; at < last; at += batch) {
            for (uint64_t i = 0; i < batch; ++i) one[i].acceptance.sequence = at + i + 1;
            tail.appended(one, at + batch);
        }
        is_over = true;
    });
    uint64_t position = 0, from_tail = 0;
    while (position < last) {
        const bool was_over = is_over;
        const auto records = tail.read_after(position, 1000);
        if (!records) {  // the file has them
            ++position;
            continue;
        }
        ASSERT_FALSE(records->empty() && was_over) << position;
        for (const LedgerRecord& record : *records) {
            ASSERT_EQ(record.position, ++position);
            ASSERT_EQ(record.entry->acceptance.sequence, position);
            ++from_tail;
        }
    }
    EXPECT_GT(from_tail, 0u);
}

}  // namespace
}  // namespace doorbuster
