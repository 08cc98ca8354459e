// What every outbox must do. An adapter's test instantiates it with a Fixture that has
//   Orders& orders();  Outbox& outbox();
//   void reopen();  // closes and opens again, as a restart does
#pragma once

#include <gtest/gtest.h>

#include "store/contract_testing.hpp"
#include "store/outbox.hpp"

namespace doorbuster {

template <class Fixture>
class OutboxContract : public ::testing::Test, public Fixture {
protected:
    // Makes so many events, one per placed order.
    void happen(uint32_t count) {
        using namespace testing;
        if (next_ == 1) {
            ASSERT_TRUE(this->orders().create_sale(phone_drop(1000), SaleState::scheduled, t0).has_value());
        }
        for (uint32_t i = 0; i < count; ++i, ++next_) {
            const std::vector batch{
                placement(next_, entry(next_, BuyerId("buyer-" + std::to_string(next_))))};
            ASSERT_TRUE(this->orders().place(next_ - 1, batch, t0).has_value());
        }
    }
    size_t take(size_t count_max = 100, bool deliver = true) {
        const auto taken = this->outbox().take_events(count_max, deliver, testing::t0);
        EXPECT_TRUE(taken.has_value());
        return taken ? *taken : 0;
    }
    std::vector<uint64_t> due(Instant now, size_t count_max = 100) {
        return numbers(this->outbox().due(now, count_max));
    }
    static std::vector<uint64_t> numbers(const StoreResult<std::vector<Delivery>>& found) {
        std::vector<uint64_t> list;
        EXPECT_TRUE(found.has_value());
        if (!found) return list;
        for (const Delivery& one : *found) list.push_back(one.event.number);
        return list;
    }
    void note(uint64_t event, DeliveryState state, std::optional<Instant> next_at = {}) {
        using namespace testing;
        const DeliveryNote one{.event = event,
                               .attempt = {.number = 0,
                                           .at = t0 + 1s,
                                           .status = state == DeliveryState::delivered ? 200u : 0u,
                                           .error = state == DeliveryState::delivered ? "" : "timed out",
                                           .took = milliseconds(7)},
                               .state = state,
                               .next_at = next_at};
        ASSERT_TRUE(this->outbox().note(std::vector{one}, t0 + 2s).has_value());
    }

private:
    uint32_t next_ = 1;
};

TYPED_TEST_SUITE_P(OutboxContract);

TYPED_TEST_P(OutboxContract, EveryEventIsTakenOnceAlsoAcrossARestart) {
    using namespace testing;
    using Events = std::vector<uint64_t>;
    EXPECT_EQ(this->take(), 0u);
    this->happen(5);
    EXPECT_EQ(this->take(2), 2u);
    EXPECT_EQ(this->due(t0), (Events{1, 2}));
    this->reopen();
    EXPECT_EQ(*this->outbox().position(), 2u);
    EXPECT_EQ(this->take(), 3u);
    EXPECT_EQ(this->take(), 0u);
    EXPECT_EQ(this->due(t0), (Events{1, 2, 3, 4, 5}));
    EXPECT_EQ(this->due(t0, 3), (Events{1, 2, 3}));
    EXPECT_TRUE(this->due(t0 - 1ms).empty());
}

TYPED_TEST_P(OutboxContract, ADeliveryKnowsItsEvent) {
    using namespace testing;
    this->happen(1);
    this->take();
    const auto found = this->outbox().find_delivery(1);
    ASSERT_TRUE(found.has_value() && found->has_value());
    const Delivery& delivery = **found;
    EXPECT_EQ(delivery.event.kind, EventKind::order_created);
    EXPECT_EQ(delivery.event.sale, SaleId("phone-drop"));
    EXPECT_EQ(delivery.event.order, OrderId{1001});
    EXPECT_EQ(delivery.event.at, t0);
    EXPECT_EQ(delivery.state, DeliveryState::pending);
    EXPECT_EQ(delivery.attempts, 0u);
    EXPECT_EQ(delivery.next_at, t0);
    EXPECT_FALSE(this->outbox().find_delivery(2)->has_value());
}

TYPED_TEST_P(OutboxContract, WhereNobodyIsToldOnlyThePositionMoves) {
    using namespace testing;
    this->happen(3);
    EXPECT_EQ(this->take(100, false), 3u);
    EXPECT_TRUE(this->due(t0 + 24h).empty());
    this->happen(1);
    EXPECT_EQ(this->take(), 1u);
    EXPECT_EQ(this->due(t0), (std::vector<uint64_t>{4}));
}

TYPED_TEST_P(OutboxContract, AnAttemptAndWhatFollowsAreKeptTogether) {
    using namespace testing;
    this->happen(3);
    this->take();
    this->note(1, DeliveryState::delivered);
    this->note(2, DeliveryState::pending, t0 + 5s);
    this->note(3, DeliveryState::failed);
    this->reopen();
    EXPECT_TRUE(this->due(t0 + 4s).empty());
    EXPECT_EQ(this->due(t0 + 5s), (std::vector<uint64_t>{2}));
    const auto second = this->outbox().find_delivery(2);
    ASSERT_TRUE(second.has_value() && second->has_value());
    EXPECT_EQ((*second)->attempts, 1u);
    EXPECT_EQ((*second)->tries, 1u);
    EXPECT_EQ((*second)->updated_at, t0 + 2s);
    this->note(2, DeliveryState::delivered);
    const auto attempts = this->outbox().attempts_of(2);
    ASSERT_TRUE(attempts.has_value());
    ASSERT_EQ(attempts->size(), 2u);
    EXPECT_EQ((*attempts)[0].number, 1u);
    EXPECT_EQ((*attempts)[0].error, "timed out");
    EXPECT_EQ((*attempts)[0].at, t0 + 1s);
    EXPECT_EQ((*attempts)[0].took, milliseconds(7));
    EXPECT_EQ((*attempts)[1].number, 2u);
    EXPECT_EQ((*attempts)[1].status, 200u);
}

TYPED_TEST_P(OutboxContract, ABatchOfNotesIsAllOrNothing) {
    using namespace testing;
    this->happen(2);
    this->take();
    // A pending one without a time is a contradiction that no store may keep.
    const std::vector notes{
        DeliveryNote{.event = 1, .attempt = {}, .state = DeliveryState::delivered, .next_at = {}},
        DeliveryNote{.event = 2, .attempt = {}, .state = DeliveryState::pending, .next_at = {}}};
    EXPECT_FALSE(this->outbox().note(notes, t0).has_value());
    EXPECT_EQ(this->due(t0), (std::vector<uint64_t>{1, 2}));
    EXPECT_TRUE(this->outbox().attempts_of(1)->empty());
}

TYPED_TEST_P(OutboxContract, AResentOneIsDueAgainAndItsLogGoesOn) {
    using namespace testing;
    this->happen(1);
    this->take();
    this->note(1, DeliveryState::failed);
    const auto again = this->outbox().resend(1, t0 + 1h);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->state, DeliveryState::pending);
    EXPECT_EQ(again->attempts, 1u);
    EXPECT_EQ(again->tries, 0u) << "the schedule begins anew";
    EXPECT_EQ(again->next_at, t0 + 1h);
    this->note(1, DeliveryState::delivered);
    EXPECT_EQ(this->outbox().attempts_of(1)->back().number, 2u);
    EXPECT_EQ(this->outbox().resend(7, t0).error().code, StoreErrc::not_found);
}

TYPED_TEST_P(OutboxContract, AnEventFromBeforeTheReceiverCanBeSentAfterAll) {
    using namespace testing;
    this->happen(2);
    this->take(100, false);
    ASSERT_TRUE(this->outbox().resend(1, t0).has_value());
    EXPECT_EQ(this->due(t0), (std::vector<uint64_t>{1}));
    this->happen(1);
    ASSERT_TRUE(this->outbox().resend(3, t0).has_value()) << "one that was not taken yet";
    EXPECT_EQ(this->take(), 1u);
    EXPECT_EQ(this->due(t0), (std::vector<uint64_t>{1, 3}));
}

TYPED_TEST_P(OutboxContract, TheLogOfADeliveryIsBounded) {
    using namespace testing;
    this->happen(1);
    this->take();
    const uint32_t more = Outbox::attempts_kept_max + 5;
    for (uint32_t i = 0; i < more; ++i) this->note(1, DeliveryState::pending, t0);
    const auto attempts = this->outbox().attempts_of(1);
    ASSERT_TRUE(attempts.has_value());
    EXPECT_EQ(attempts->size(), Outbox::attempts_kept_max);
    EXPECT_EQ(attempts->back().number, more) << "the newest stay";
}

TYPED_TEST_P(OutboxContract, DeliveriesAreListedNewestFirstByState) {
    using namespace testing;
    using Events = std::vector<uint64_t>;
    this->happen(5);
    this->take();
    this->note(1, DeliveryState::delivered);
    this->note(2, DeliveryState::failed);
    this->note(4, DeliveryState::failed);
    Outbox& outbox = this->outbox();
    EXPECT_EQ(this->numbers(outbox.deliveries({}, {}, 100)), (Events{5, 4, 3, 2, 1}));
    EXPECT_EQ(this->numbers(outbox.deliveries({}, 4, 2)), (Events{3, 2}));
    EXPECT_EQ(this->numbers(outbox.deliveries(DeliveryState::failed, {}, 100)), (Events{4, 2}));
    EXPECT_EQ(this->numbers(outbox.deliveries(DeliveryState::failed, 4, 100)), (Events{2}));
    EXPECT_EQ(this->numbers(outbox.deliveries(DeliveryState::pending, {}, 1)), (Events{5}));
    EXPECT_EQ(this->numbers(outbox.deliveries(DeliveryState::delivered, {}, 100)), (Events{1}));
}

TYPED_TEST_P(OutboxContract, TheBacklogIsWhatIsPending) {
    using namespace testing;
    EXPECT_EQ(this->outbox().backlog()->pending, 0u);
    EXPECT_EQ(this->outbox().backlog()->oldest, std::nullopt);
    this->happen(3);
    this->take();
    this->note(1, DeliveryState::delivered);
    EXPECT_EQ(this->outbox().backlog()->pending, 2u);
    EXPECT_EQ(this->outbox().backlog()->oldest, t0);
}

REGISTER_TYPED_TEST_SUITE_P(OutboxContract, EveryEventIsTakenOnceAlsoAcrossARestart, ADeliveryKnowsItsEvent,
                            WhereNobodyIsToldOnlyThePositionMoves, AnAttemptAndWhatFollowsAreKeptTogether,
                            ABatchOfNotesIsAllOrNothing, AResentOneIsDueAgainAndItsLogGoesOn,
                            AnEventFromBeforeTheReceiverCanBeSentAfterAll, TheLogOfADeliveryIsBounded,
                            DeliveriesAreListedNewestFirstByState, TheBacklogIsWhatIsPending);

}  // namespace doorbuster
