#include "shard/owner.hpp"

#include <gtest/gtest.h>

#include <future>

#include "sale/testing.hpp"
#include "shard/shard_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

struct CountingSink final : ReplySink {
    std::atomic<uint64_t> replies{0}, accepted{0};
    void deliver(std::span<const PurchaseReply> some) override {
        for (const PurchaseReply& reply : some) {
            accepted += reply.answer.outcome == ReserveOutcome::accepted && reply.verdict == Verdict::decided;
        }
        replies += some.size();
    }
};

struct FixedClock final : Clock {
    Instant now() override { return t0; }
    Uptime uptime() override { return 0s; }
};

class OwnerTest : public ::testing::Test {
protected:
    OpenBook open_book(uint32_t units, Phase phase = Phase::selling) {
        return {
            ItemSlot{0}, SaleId("phone-drop"), ItemId("phone"), {1, t0, t0 + 1h}, {units, units, 0, 0}, phase,
            board};
    }
    void open(uint32_t units) {
        owner.control(open_book(units));
        owner.set_sinks({&sink, &sink});
    }

    TemporaryFolder folder;
    std::unique_ptr<SqliteLedger> ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    Shard shard{*ledger};
    FixedClock clock;
    CountingSink sink;
    std::shared_ptr<ItemBoard> board = std::make_shared<ItemBoard>();
    Owner owner{shard, clock, {.queue_capacity = 1024}, {}};
};

TEST_F(OwnerTest, EverySubmittedCommandGetsExactlyOneReplyAndNoUnitIsSoldTwice) {
    open(50);
    owner.start();
    std::atomic<uint64_t> queued{0};
    std::vector<std::thread> gates;
    for (uint16_t gate = 0; gate < 2; ++gate) {
        gates.emplace_back([&, gate] {
            for (uint32_t i = 0; i < 2000; ++i) {
                const uint32_t number = gate * 10'000u + i;
                const BuyerId buyer("buyer-" + std::to_string(number));
                queued += owner.submit({ItemSlot{0}, purchase(number), buyer, 1, gate, nullptr}) ==
                          Submitted::queued;
            }
        });
    }
    for (std::thread& gate : gates) gate.join();
    owner.stop();
    EXPECT_EQ(sink.replies, queued);
    EXPECT_EQ(sink.accepted, std::min<uint64_t>(50, queued));
    EXPECT_EQ(board->stock().units_held, sink.accepted);
}

TEST_F(OwnerTest, BeforeItRunsPurchasesHearRebuilding) {
    open(1);
    EXPECT_EQ(owner.submit({ItemSlot{0}, purchase(1), alice, 1, 0, nullptr}), Submitted::rebuilding);
}

TEST_F(OwnerTest, WhoeverHearsAnAnswerIsNotCountedAsWaitingAnyMore) {
    struct Looking final : ReplySink {
        Owner* owner = nullptr;
        std::atomic<uint64_t> replies{0}, waiting{0};
        void deliver(std::span<const PurchaseReply> some) override {
            waiting += owner->units_waited_for(ItemSlot{0});
            replies += some.size();
        }
    };
    Looking looking;
    looking.owner = &owner;
    owner.control(open_book(1));
    owner.set_sinks({&looking});
    owner.start();
    for (uint32_t number = 1; number <= 2; ++number) {  // a yes and a sold_out, one batch each
        const BuyerId buyer("buyer-" + std::to_string(number));
        ASSERT_EQ(owner.submit({ItemSlot{0}, purchase(number), buyer, 1, 0, nullptr}), Submitted::queued);
        while (looking.replies < number) std::this_thread::yield();
    }
    owner.stop();
    EXPECT_EQ(looking.waiting, 0u);

    const Heard nobody;
    FailingLedger full{nobody};
    full.fails = true;
    Shard broken(full);
    Owner failing{broken, clock, {}, {}};
    looking.owner = &failing;
    failing.control(open_book(9));
    failing.set_sinks({&looking});
    failing.start();
    ASSERT_EQ(failing.submit({ItemSlot{0}, purchase(1), alice, 1, 0, nullptr}), Submitted::queued);
    failing.stop();
    EXPECT_EQ(looking.replies, 3u);
    EXPECT_EQ(looking.waiting, 0u);
}

TEST_F(OwnerTest, AStopWaitsForNoPace) {
    open(50);
    owner.start();
    owner.set_pace({.wait_max = 1h, .rate_per_second_max = 1});  // and the clock stands still
    for (uint32_t number = 1; number <= 20; ++number) {
        const BuyerId buyer("buyer-" + std::to_string(number));
        ASSERT_EQ(owner.submit({ItemSlot{0}, purchase(number), buyer, 1, 0, nullptr}), Submitted::queued);
    }
    owner.stop();
    EXPECT_EQ(sink.accepted, 20u);
}

TEST_F(OwnerTest, AControlIsAppliedBehindWhatWasGivenBefore) {
    open(1);
    owner.start();
    ASSERT_EQ(owner.submit({ItemSlot{0}, purchase(1), alice, 1, 0, nullptr}), Submitted::queued);
    std::promise<void> released;
    owner.control(RestockItem{ItemSlot{0}, 4}, [&] { released.set_value(); });
    released.get_future().wait();
    EXPECT_EQ(board->stock().units_total, 5u);
    owner.stop();
}

TEST_F(OwnerTest, MoreControlsAtOnceThanThereIsRoomForAreAllApplied) {
    Owner narrow{shard, clock, {.control_capacity = 4}, {}};
    narrow.control(open_book(1));
    narrow.start();
    narrow.control_all(std::vector<ControlCommand>(11, RestockItem{ItemSlot{0}, 1}));
    std::promise<void> applied;
    narrow.control(RestockItem{ItemSlot{0}, 1}, [&] { applied.set_value(); });
    applied.get_future().wait();
    EXPECT_EQ(board->stock().units_total, 13u);
    narrow.stop();
}

TEST_F(OwnerTest, AReinstatementIsAnsweredWhenItIsDurableAndTakesOneUnitHoweverOftenAsked) {
    open(2);
    owner.start();
    std::promise<Reinstated> first, second;
    const Reinstatement asked{SaleId("phone-drop"), ItemId("phone"), purchase(1), purchase(9), alice, 1};
    owner.reinstate(asked, [&](const Reinstated& answer) { first.set_value(answer); });
    EXPECT_EQ(first.get_future().get().outcome, ReserveOutcome::accepted);
    auto reader = std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    ASSERT_EQ(reader->read_after(0, 9)->size(), 1u);
    EXPECT_EQ(reader->read_after(0, 9)->front().entry->replaces, purchase(9));
    owner.reinstate(asked, [&](const Reinstated& answer) { second.set_value(answer); });
    EXPECT_EQ(second.get_future().get().outcome, ReserveOutcome::repeated);
    owner.stop();
    EXPECT_EQ(owner.figures().acceptances, 1u);
}

TEST_F(OwnerTest, WithTheRoomFullAPutterWaitsAndIsAnsweredAllTheSame) {
    Owner narrow{shard, clock, {.reinstatements_max = 1}, {}};
    narrow.control(open_book(100, Phase::closed));
    narrow.start();
    std::atomic<uint32_t> accepted{0};
    std::vector<std::thread> putters;
    for (uint32_t putter = 0; putter < 2; ++putter) {
        putters.emplace_back([&, putter] {
            for (uint32_t i = 0; i < 20; ++i) {
                const uint32_t number = putter * 100 + i;
                const BuyerId buyer("buyer-" + std::to_string(number));
                narrow.reinstate(
                    {SaleId("phone-drop"), ItemId("phone"), purchase(number), PurchaseId{}, buyer, 1},
                    [&](const Reinstated& answer) {
                        accepted += answer.outcome == ReserveOutcome::accepted;
                    });
            }
        });
    }
    for (std::thread& putter : putters) putter.join();
    narrow.stop();
    EXPECT_EQ(accepted, 40u);
}

TEST_F(OwnerTest, WhileNobodyDecidesAReinstatementIsUnknown) {
    open(1);
    const Reinstatement asked{SaleId("phone-drop"), ItemId("phone"), purchase(1), purchase(9), alice, 1};
    uint32_t unknown = 0;
    const auto count = [&](const Reinstated& answer) { unknown += !answer.outcome; };
    owner.reinstate(asked, count);
    owner.start();
    owner.stop();
    owner.reinstate(asked, count);
    EXPECT_EQ(unknown, 2u);
    EXPECT_EQ(board->stock(), (Stock{1, 1, 0, 0}));
}

}  // namespace
}  // namespace doorbuster
