#include "http/event_streams.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <string>
#include <vector>

#include "base/check.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

// A client that can be slow, or gone: the one thing that a real one cannot be made to be
// at a given moment.
class FakeExchange final : public Exchange {
public:
    const Request& request() const override { return request_; }
    Language language() const override { return Language::en; }
    Gate& gate() override {
        CHECK(false);
        std::abort();
    }
    const Address& peer() const override { return peer_; }
    void add_headers(std::string_view lines) override { added = lines; }
    void answer(const Response& response) override { status = response.status; }
    void refuse(Code code) override { status = status_of(code); }
    void refuse(Code code, std::string_view) override { status = status_of(code); }
    void refuse(const Problem& problem) override { status = status_of(problem.code); }
    void refuse(const PreparedRefusal&, const PurchaseId&) override { CHECK(false); }
    bool begin_stream(const Response& head, StreamOwner& stream_owner, uint64_t number) override {
        status = head.status;
        headers = head.headers;
        if (has_gone) return false;
        owner = &stream_owner;
        stream = number;
        return true;
    }
    void send_piece(std::string_view piece) override { sent += piece; }
    bool lags() const override { return is_slow; }
    void end_stream() override { has_ended = true; }

    void leave() { owner->stream_ended(stream); }
    std::string take() { return std::exchange(sent, {}); }

    int status = 0;
    std::string headers, sent, added;
    bool has_gone = false, is_slow = false, has_ended = false;
    StreamOwner* owner = nullptr;
    uint64_t stream = 0;

private:
    Request request_;
    Address peer_{};
};

PurchaseId purchase(uint8_t number) {
    PurchaseId id;
    id.bytes[0] = number;
    return id;
}

PurchaseSnapshot snapshot(uint64_t version, bool is_final = false) {
    return {version, is_final, "event " + std::to_string(version) + "\n"};
}

class EventStreamsTest : public ::testing::Test {
protected:
    FakeExchange& open(uint8_t number, std::optional<uint64_t> last_seen = {}, BuyerId buyer = alice) {
        FakeExchange& client = clients_.emplace_back();
        is_taken_ = streams_.open(client, {purchase(number), buyer}, last_seen, now_);
        return client;
    }
    // Open, with the first event heard.
    FakeExchange& opened(uint8_t number) {
        FakeExchange& client = open(number);
        answer_look(snapshot(0));
        client.take();
        return client;
    }
    void answer_look(const LookedUp& outcome) {
        ASSERT_FALSE(looks_.empty());
        const uint64_t stream = looks_.front();
        looks_.pop_front();
        streams_.looked(stream, outcome);
    }
    void changed(uint8_t number) {
        const PurchaseId id = purchase(number);
        streams_.purchases_changed({&id, 1});
    }
    void pass(Uptime time) {
        now_ += time;
        streams_.tick(now_);
    }

    static inline const BuyerId alice{"alice"}, bob{"bob"};
    Uptime now_ = 1h;
    std::list<FakeExchange> clients_;
    std::deque<uint64_t> looks_;  // under way
    bool has_look_room_ = true;
    bool is_taken_ = false;
    StreamRoom room_{{.streams_max = 200, .streams_per_buyer_max = 100}};
    Probe probe_;
    EventStreams streams_{{.stream_max = 900s, .heartbeat = 15s, .streams_max = 150, .seed = 1},
                          room_,
                          probe_,
                          [this](uint64_t stream, const EventStreams::Subject&) {
                              if (has_look_room_) looks_.push_back(stream);
                              return has_look_room_;
                          }};
};

TEST_F(EventStreamsTest, BeginsWithHowLongToWaitAndTheNewestSnapshot) {
    FakeExchange& client = open(1);
    EXPECT_TRUE(is_taken_);
    EXPECT_EQ(client.status, 0) << "nobody is told anything before the purchase is found";
    answer_look(snapshot(3));
    EXPECT_EQ(client.status, 200);
    EXPECT_EQ(client.headers, "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n");
    unsigned retry_ms = 0;
    ASSERT_EQ(std::sscanf(client.sent.c_str(), "retry: %u\n\nevent 3\n", &retry_ms), 1);
    EXPECT_GE(retry_ms, 1000u);
    EXPECT_LE(retry_ms, 3000u);
    EXPECT_TRUE(client.sent.ends_with("\n\nevent 3\n"));
    EXPECT_EQ(probe_.answered_total(200), 1u);
}

TEST_F(EventStreamsTest, ResumesWithNothingOrWithTheNewest) {
    FakeExchange &same = open(1, 3), &older = open(1, 2), &of_another_life = open(1, 99);
    for (int i = 0; i < 3; ++i) answer_look(snapshot(3));
    EXPECT_TRUE(same.take().ends_with("\n\n"));
    EXPECT_TRUE(older.take().ends_with("event 3\n"));
    EXPECT_TRUE(of_another_life.take().ends_with("event 3\n"));
    changed(1);
    for (int i = 0; i < 3; ++i) answer_look(snapshot(4));
    EXPECT_EQ(same.take(), "event 4\n");
    EXPECT_EQ(of_another_life.take(), "event 4\n");
}

TEST_F(EventStreamsTest, SendsOnlyWhatIsNewer) {
    FakeExchange& client = opened(1);
    changed(1);
    answer_look(snapshot(1));
    EXPECT_EQ(client.take(), "event 1\n");
    changed(1);
    answer_look(snapshot(1));
    EXPECT_EQ(client.take(), "");
    EXPECT_TRUE(looks_.empty());
}

TEST_F(EventStreamsTest, AChangeDuringALookIsLookedAtAgain) {
    FakeExchange& client = open(1);
    changed(1);  // between the stream's first look and its outcome
    EXPECT_EQ(looks_.size(), 1u);
    answer_look(snapshot(0));
    EXPECT_TRUE(client.take().ends_with("event 0\n"));
    answer_look(snapshot(1));
    EXPECT_EQ(client.take(), "event 1\n");
}

TEST_F(EventStreamsTest, OnlyWhoFollowsThePurchaseLooks) {
    opened(1);
    opened(2);
    changed(3);
    EXPECT_TRUE(looks_.empty());
    changed(2);
    changed(2);
    EXPECT_EQ(looks_.size(), 1u);
    answer_look(snapshot(0));
    answer_look(snapshot(0));  // the second change may have come too late for the first look
    EXPECT_TRUE(looks_.empty());
    streams_.anything_changed();
    EXPECT_EQ(looks_.size(), 2u);
}

TEST_F(EventStreamsTest, AHeartbeatSaysSoAndLooksAgain) {
    FakeExchange& client = opened(1);
    pass(7s);
    EXPECT_EQ(client.take(), "") << "too early";
    pass(8s);
    EXPECT_EQ(client.take(), ": still here\n\n");
    answer_look(snapshot(1));  // of which nobody told
    EXPECT_EQ(client.take(), "event 1\n");
    pass(15s);
    EXPECT_EQ(client.take(), ": still here\n\n");
}

TEST_F(EventStreamsTest, AClientThatLagsGetsSnapshotsAndNoHeartbeats) {
    FakeExchange& client = opened(1);
    client.is_slow = true;
    pass(15s);
    EXPECT_EQ(client.take(), "");
    answer_look(snapshot(1));
    EXPECT_EQ(client.take(), "event 1\n");
}

TEST_F(EventStreamsTest, ALongStreamEnds) {
    FakeExchange& client = opened(1);
    pass(809s);
    EXPECT_FALSE(client.has_ended);
    pass(91s);
    EXPECT_TRUE(client.has_ended);
    EXPECT_TRUE(streams_.is_empty());
    EXPECT_EQ(room_.streams(), 0u);
}

TEST_F(EventStreamsTest, AFinalSnapshotEndsTheStreamAndKeepsClientsFromComingBack) {
    FakeExchange& client = opened(1);
    changed(1);
    answer_look(snapshot(1, true));
    EXPECT_EQ(client.take(), "event 1\n");
    EXPECT_TRUE(client.has_ended);

    FakeExchange& back = open(1, 1);
    answer_look(snapshot(1, true));
    EXPECT_EQ(back.status, 204);

    FakeExchange& fresh = open(1);
    answer_look(snapshot(1, true));
    EXPECT_TRUE(fresh.take().ends_with("event 1\n"));
    EXPECT_TRUE(fresh.has_ended);
    EXPECT_EQ(room_.streams(), 0u);
}

TEST_F(EventStreamsTest, WhatIsNotFoundOrFailsIsRefusedAndTakesNoRoom) {
    FakeExchange &missing = open(1), &failed = open(2);
    answer_look(Problem{Code::not_found});
    answer_look(Problem{Code::internal});
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(failed.status, 500);
    EXPECT_EQ(probe_.answered_total(404), 1u);
    EXPECT_EQ(room_.streams(), 0u);
    EXPECT_TRUE(streams_.is_empty());
}

TEST_F(EventStreamsTest, AnOpenStreamOutlivesAStoreThatFails) {
    FakeExchange& client = opened(1);
    changed(1);
    answer_look(Problem{Code::internal});
    EXPECT_FALSE(client.has_ended);
    pass(15s);
    answer_look(snapshot(1));
    EXPECT_TRUE(client.take().ends_with("event 1\n"));
    changed(1);
    answer_look(Problem{Code::not_found});
    EXPECT_TRUE(client.has_ended);
}

TEST_F(EventStreamsTest, WhoLeavesGivesTheirRoomBackAtAnyMoment) {
    FakeExchange& client = opened(1);
    changed(1);
    client.leave();
    EXPECT_EQ(room_.streams(), 0u);
    answer_look(snapshot(1));  // for nobody
    EXPECT_EQ(client.take(), "");

    FakeExchange& gone = open(1);
    gone.has_gone = true;
    answer_look(snapshot(1));
    EXPECT_EQ(gone.take(), "");
    EXPECT_EQ(room_.streams(), 0u);
    EXPECT_TRUE(streams_.is_empty());
}

TEST_F(EventStreamsTest, BeyondItsBoundsNothingIsOpened) {
    for (uint8_t i = 0; i < 100; ++i) opened(i);
    open(100);
    EXPECT_FALSE(is_taken_) << "the buyer's own bound";
    for (uint8_t i = 0; i < 50; ++i) {
        open(i, {}, bob);
        EXPECT_TRUE(is_taken_);
    }
    open(50, {}, bob);
    EXPECT_FALSE(is_taken_) << "the gate's";
    EXPECT_EQ(room_.streams(), 150u);
}

TEST_F(EventStreamsTest, FewLookAtATimeAndTheOthersWaitTheirTurn) {
    for (uint8_t i = 0; i < 100; ++i) opened(i);
    streams_.anything_changed();
    EXPECT_EQ(looks_.size(), EventStreams::looks_max);
    streams_.anything_changed();
    EXPECT_EQ(looks_.size(), EventStreams::looks_max);
    clients_.back().leave();  // while it waits
    for (int i = 0; i < 99; ++i) answer_look(snapshot(1));
    size_t heard = 0;
    for (FakeExchange& client : clients_) heard += client.take() == "event 1\n";
    EXPECT_EQ(heard, 99u);
}

TEST_F(EventStreamsTest, WithoutRoomForLookUpsNewStreamsAreRefusedAndOpenOnesWait) {
    FakeExchange& client = opened(1);
    has_look_room_ = false;
    FakeExchange& late = open(2);
    EXPECT_EQ(late.status, 503);
    changed(1);
    EXPECT_TRUE(looks_.empty());
    has_look_room_ = true;
    pass(1s);
    answer_look(snapshot(1));
    EXPECT_EQ(client.take(), "event 1\n");
    EXPECT_EQ(room_.streams(), 1u);
}

}  // namespace
}  // namespace doorbuster
