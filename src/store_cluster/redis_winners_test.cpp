// What a gate learns from Redis of those who won at other gates, and how soon.
#include <gtest/gtest.h>

#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

// Ahead of any clock: the book goes by the latest time that it has seen.
const Instant ahead = from_ms(4'102'444'800'000);

class RedisWinners : public ::testing::Test {
protected:
    RedisWinners() { book.word.terms.closes_at = ahead + 1h; }

    ReserveVerdict take(uint32_t number, Instant now) {
        const std::vector<ReserveEntry> one{
            {.purchase = purchase(number), .buyer = BuyerId("buyer-" + std::to_string(number))}};
        const auto said = read_reserve(*ask(book.redis, reserve_call(book.bucket, book.fence, one, now)), 1);
        EXPECT_TRUE(said.has_value() && said->front());
        return said->front().value();
    }
    void release(uint32_t number) {
        const std::vector one{purchase(number)};
        const auto said = read_changes(*ask(book.redis, release_call(book.bucket, book.fence, one)), 1);
        EXPECT_TRUE(said.has_value() && said->front());
    }
    std::vector<Winner> winners(uint64_t after, uint32_t count_max) {
        auto said = read_winners(*ask(book.redis, winners_call(book.bucket, book.fence, after, count_max)));
        EXPECT_TRUE(said.has_value());
        return *std::move(said);
    }

    uint64_t reopenings_seen() {
        return read_peek(*ask(book.redis, peek_call(book.bucket)))->book->reopenings;
    }

    LoadedBook book{1};
};

TEST_F(RedisWinners, EveryoneWhomTheBookKnowsHasAPlace) {
    BookLoad load{.epoch = 4, .word = book.word, .stock = {5, 3, 1, 1}, .takes = {}};
    for (const HoldState state : {HoldState::held, HoldState::finished, HoldState::sold}) {
        const auto number = static_cast<uint32_t>(load.takes.size() + 1);
        load.takes.push_back({purchase(number),
                              BuyerId("buyer-" + std::to_string(number)),
                              {.state = state, .units = 1, .epoch = 2, .sequence = number}});
    }
    book.fence = {*read_pin(*ask(book.redis, load_call(book.bucket, load))), 4};
    take(4, ahead);
    take(5, ahead);
    take(4, ahead);  // once is enough
    EXPECT_EQ(book.peek().book->purchases_known, 5u);
    for (uint32_t page = 1; page <= 6; ++page) {
        std::vector<Winner> all;
        for (;;) {
            const auto some = winners(all.size(), page);
            if (some.empty()) break;
            all.insert(all.end(), some.begin(), some.end());
        }
        ASSERT_EQ(all.size(), 5u);
        for (uint32_t i = 0; i < 5; ++i) {
            EXPECT_EQ(all[i].purchase, purchase(i + 1));
            EXPECT_EQ(all[i].buyer, BuyerId("buyer-" + std::to_string(i + 1)));
        }
    }
    book.fence.epoch = 2;
    const auto fenced = read_winners(*ask(book.redis, winners_call(book.bucket, book.fence, 0, 1)));
    ASSERT_FALSE(fenced.has_value());
    EXPECT_EQ(fenced.error().code, RedisErrc::fenced);
}

TEST_F(RedisWinners, ATakeTellsHowOftenTheBookWasReopened) {
    book.load(4, 1);
    EXPECT_EQ(take(1, ahead).reopenings, 0u);
    EXPECT_EQ(reopenings_seen(), 0u);
    release(1);
    EXPECT_EQ(reopenings_seen(), 1u);
    const ReserveVerdict taken = take(2, ahead + 1h - 1s);
    EXPECT_EQ(taken.outcome, ReserveOutcome::accepted);
    EXPECT_EQ(taken.reopenings, 1u) << "however late it is, by Redis' clock";
    EXPECT_TRUE(taken.is_pending);
    EXPECT_EQ(take(2, ahead).reopenings, 1u) << "whoever repeats hears it, too";
    EXPECT_EQ(take(3, ahead).outcome, ReserveOutcome::sold_out);
    ASSERT_TRUE(read_number(*ask(book.redis, restock_call(book.bucket, book.fence, "7", 2))).has_value());
    EXPECT_EQ(take(4, ahead).reopenings, 2u);
    EXPECT_EQ(take(2, ahead).reopenings, 2u);
    EXPECT_EQ(reopenings_seen(), 2u);
}

TEST_F(RedisWinners, ALookTellsWhenTheLastOneWasTaken) {
    book.load(4, 1);
    const auto taken_at = [&] { return read_peek(*ask(book.redis, peek_call(book.bucket)))->book->taken_at; };
    EXPECT_EQ(taken_at(), std::nullopt) << "nobody in this epoch";
    take(1, ahead);
    EXPECT_EQ(take(2, ahead + 5s).outcome, ReserveOutcome::sold_out);
    EXPECT_EQ(taken_at(), ahead) << "who is refused takes nothing";
}

TEST_F(RedisWinners, AReleaseOfMoreThanEnoughIsNoReopening) {
    book.load(4, 3);
    take(1, ahead);
    release(1);
    EXPECT_EQ(take(2, ahead).reopenings, 0u);
}

TEST_F(RedisWinners, ASlotThatComesBackIsAReopening) {
    book.word.terms.policy = StockPolicy::at_payment;
    book.word.terms.orders_max = 1;
    book.load(4, 5);
    take(1, ahead);
    EXPECT_EQ(take(2, ahead).outcome, ReserveOutcome::sold_out_for_now);
    const std::vector paid{purchase(1)};
    ASSERT_TRUE(read_changes(*ask(book.redis, sell_call(book.bucket, book.fence, paid)), 1).has_value());
    EXPECT_EQ(take(3, ahead).reopenings, 1u);
    EXPECT_EQ(take(4, ahead + 2s).outcome, ReserveOutcome::sold_out_for_now);
    release(3);
    EXPECT_EQ(take(5, ahead + 2s).reopenings, 2u);
}

TEST_F(RedisWinners, AWordThatAllowsMoreOrdersIsAReopening) {
    book.word.terms.policy = StockPolicy::at_payment;
    book.word.terms.orders_max = 1;
    book.load(4, 5);
    const auto say = [&](uint32_t orders_max) {
        ++book.word.version;
        book.word.terms.orders_max = orders_max;
        return read_number(*ask(book.redis, set_state_call(book.bucket, book.fence, book.word)));
    };
    take(1, ahead);
    EXPECT_EQ(say(1).value(), 1);
    EXPECT_EQ(reopenings_seen(), 0u) << "it is shut as before";
    EXPECT_EQ(say(2).value(), 1);
    EXPECT_EQ(take(2, ahead).reopenings, 1u);
    EXPECT_EQ(say(3).value(), 1);
    EXPECT_EQ(say(4).value(), 1);
    EXPECT_EQ(reopenings_seen(), 2u) << "the second of the two found it open";
}

}  // namespace
}  // namespace doorbuster
