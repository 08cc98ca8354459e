// What a gate makes of answers that come when its lease is another.
#include "store_cluster/cluster_acceptor.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "store/contract_testing.hpp"
#include "store_cluster/cluster_board.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

// Calls to a real Redis, each answered when the test says so.
class HeldCalls final : public RedisAsyncCalls {
public:
    explicit HeldCalls(RedisSession session) : session_(std::move(session)) {}

    RedisResult<void> call(const RedisCall& call, RedisAnswered answered) override {
        held_.push_back({call, std::move(answered)});
        return {};
    }
    void answer_all() {
        while (!held_.empty()) answer_next();
    }
    void answer_next() {
        const auto [call, answered] = std::move(held_.front());
        held_.pop_front();
        answered(ask(session_, call).get());
    }
    size_t size() const { return held_.size(); }

private:
    struct Held {
        RedisCall call;
        RedisAnswered answered;
    };
    RedisSession session_;
    std::deque<Held> held_;
};

class NoKafka final : public RecordSink {
    StoreResult<void> produce(const LedgerEntry&, Reported) override { return away(); }
    StoreResult<void> produce(const Seal&, int32_t, Reported) override { return away(); }
    static StoreError away() { return {StoreErrc::unavailable, "produce", "there is none"}; }
};

class GateBetweenLeases : public ::testing::Test {
protected:
    void lease(pg::BootTime ends_at) {
        bucket->take(ItemEpoch{book.bucket.sale, book.bucket.item, book.fence.epoch, book.fence.pin},
                     ends_at);
    }
    void reserve(uint32_t number) {
        acceptor->reserve({.purchase = purchase(number), .buyer = alice},
                          [this](const ClusterAcceptor::Outcome& one) { heard.push_back(one.verdict); });
        loop.poll();
        loop.restart();
    }

    static constexpr pg::BootTime never = pg::BootTime::max();
    LoadedBook book{10};
    boost::asio::io_context loop{1};
    HeldCalls redis{book.server.connect()};
    NoKafka kafka;
    std::vector<uint64_t> doubted;  // epochs
    std::vector<Doubt> doubts;
    std::shared_ptr<ClusterBucket> bucket = std::make_shared<ClusterBucket>(
        book.bucket, [this](const ItemEpoch& one, Doubt kind, const std::string&) {
            doubted.push_back(one.epoch);
            doubts.push_back(kind);
        });
    std::shared_ptr<ItemBoard> shown = std::make_shared<ItemBoard>();
    std::shared_ptr<ClusterAcceptor> acceptor =
        std::make_shared<ClusterAcceptor>(ClusterAcceptor::Parts{loop, redis, kafka}, bucket, shown);
    std::shared_ptr<ClusterBoard> board = std::make_shared<ClusterBoard>(redis, bucket, shown);
    std::vector<Verdict> heard;
};

TEST_F(GateBetweenLeases, WhatWaitedThroughTheEndOfALeaseIsNotSentAndDoubtsNothing) {
    lease(never);
    reserve(1);
    reserve(2);  // behind the call that is under way
    ASSERT_EQ(redis.size(), 1u);
    lease(pg::BootTime::zero());  // the process slept
    redis.answer_next();
    EXPECT_EQ(redis.size(), 0u) << "without a lease nothing is sent";
    lease(never);
    redis.answer_all();
    EXPECT_TRUE(doubted.empty());
    EXPECT_EQ(heard, (std::vector{Verdict::rebuilding, Verdict::rebuilding}));
}

TEST_F(GateBetweenLeases, AnAnswerUnderAnEarlierEpochIsNoDoubtAboutTheNext) {
    lease(never);
    reserve(1);
    ASSERT_TRUE(board->look());
    ASSERT_EQ(redis.size(), 2u);
    book.load(4, 10);  // it was rebuilt, and the new lease is here before the answers
    lease(never);
    redis.answer_all();
    EXPECT_EQ(heard, std::vector{Verdict::rebuilding});
    EXPECT_TRUE(doubted.empty());
    ASSERT_TRUE(board->look());
    ask(book.redis, {"FLUSHALL"});
    redis.answer_all();
    EXPECT_EQ(doubted, std::vector<uint64_t>{4}) << "what is really lost is told";
}

TEST_F(GateBetweenLeases, ARedisThatRefusesALookMayHaveItsBookAndOneWithoutTheFunctionsHasNone) {
    lease(never);
    ASSERT_TRUE(board->look());
    ask(book.redis, {"ACL", "SETUSER", "default", "-fcall", "-fcall_ro"});
    redis.answer_all();
    EXPECT_EQ(doubts, std::vector{Doubt::silent});
    ask(book.redis, {"ACL", "SETUSER", "default", "+fcall", "+fcall_ro"});
    ask(book.redis, {"FUNCTION", "FLUSH"});
    reserve(1);
    redis.answer_all();
    ASSERT_TRUE(board->look());
    redis.answer_all();
    EXPECT_EQ(doubts, (std::vector{Doubt::silent, Doubt::lost})) << "and the first holds the second not up";
}

}  // namespace
}  // namespace doorbuster
