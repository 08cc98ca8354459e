#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <utility>

#include "http/gate_fixture.hpp"

namespace doorbuster {
namespace {

class GateStreamTest : public GateTest, public StreamOwner {
protected:
    static constexpr uint64_t number = 7;

    void stream_ended(uint64_t stream) override {
        EXPECT_EQ(stream, number);
        ++ended_;
    }
    void wait_until_ended() {
        while (ended_ == 0) sync();
    }

    template <class Task>
    auto on_gate(Task task) {
        std::packaged_task<decltype(task())()> packaged(std::move(task));
        gate_->post([&] { packaged(); });
        return packaged.get_future().get();
    }

    // The stream that the client's request is answered with.
    Exchange* begin(Client& client) {
        client.send(get("/later"));
        Exchange* exchange = handler_.wait_for_kept();
        EXPECT_TRUE(on_gate([&] { return exchange->begin_stream(head, *this, number); }));
        return exchange;
    }
    void send(Exchange* exchange, std::string_view piece) {
        on_gate([&] { exchange->send_piece(piece); });
    }

    // As many pieces as it takes until the kernel wants no more; how many bytes that were.
    size_t send_until_lag(Exchange* exchange) {
        const std::string piece(1 << 16, 'x');
        for (size_t bytes = 0;; bytes += piece.size()) {
            if (on_gate([&] { return exchange->lags(); })) return bytes;
            send(exchange, piece);
        }
    }

    static constexpr Response head{.content_type = "text/event-stream", .headers = "X-Extra: yes\r\n"};
    std::atomic<int> ended_ = 0;
};

TEST_F(GateStreamTest, PiecesArriveAsTheyAreSentUntilTheOwnerEndsIt) {
    start();
    Client client = connect();
    Exchange* exchange = begin(client);
    const Received reply = client.read();
    EXPECT_EQ(reply.status(), 200);
    EXPECT_TRUE(reply.has("Content-Type: text/event-stream"));
    EXPECT_TRUE(reply.has("X-Extra: yes"));
    EXPECT_TRUE(reply.has("Connection: close"));
    EXPECT_EQ(reply.head.find("Content-Length"), std::string::npos);

    send(exchange, "first\n");
    EXPECT_EQ(client.read_up_to("\n"), "first\n");
    send(exchange, "second\n");
    EXPECT_EQ(client.read_up_to("\n"), "second\n");
    on_gate([&] {
        exchange->send_piece("last\n");
        exchange->end_stream();
    });
    EXPECT_EQ(client.read_to_end(), "last\n");
    client.leave();
    while (gate_->figures().connections_open != 0) sync();
    EXPECT_EQ(ended_, 0) << "an owner knows what it did itself";
}

TEST_F(GateStreamTest, AClientThatLeavesEndsItsStream) {
    start();
    Client client = connect();
    begin(client);
    EXPECT_EQ(client.read().status(), 200);
    client.leave();
    wait_until_ended();
    while (gate_->figures().connections_open != 0) sync();
    EXPECT_EQ(ended_, 1);
}

TEST_F(GateStreamTest, AStreamOutlivesTheIdleDeadline) {
    start({.idle_deadline = soon});
    Client idle = connect();
    Client client = connect();
    Exchange* exchange = begin(client);
    EXPECT_TRUE(idle.is_closed());
    send(exchange, "still here\n");
    client.read();
    EXPECT_EQ(client.read_up_to("\n"), "still here\n");
}

TEST_F(GateStreamTest, WhatIsSentBehindItIsNotReadAsARequest) {
    start();
    Client client = connect();
    client.send(get("/later") + get("/echo"));
    Exchange* exchange = handler_.wait_for_kept();
    EXPECT_TRUE(on_gate([&] { return exchange->begin_stream(head, *this, number); }));
    client.send(get("/echo"));
    on_gate([&] { exchange->send_piece("piece\n"); });
    client.read();
    EXPECT_EQ(client.read_up_to("\n"), "piece\n");
    on_gate([&] { exchange->end_stream(); });
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_EQ(gate_->figures().requests_total, 1u);
}

TEST_F(GateStreamTest, HeadIsAnsweredWithTheHeadAlone) {
    start();
    Client client = connect();
    client.send("HEAD /later HTTP/1.1\r\nHost: shop\r\n\r\n");
    Exchange* exchange = handler_.wait_for_kept();
    EXPECT_FALSE(on_gate([&] { return exchange->begin_stream(head, *this, number); }));
    EXPECT_EQ(client.read(false).status(), 200);
    EXPECT_TRUE(client.is_closed());
    EXPECT_EQ(ended_, 0);
}

TEST_F(GateStreamTest, OfThePiecesThatWaitOnlyTheNewestIsSent) {
    start({.write_deadline = std::chrono::minutes(10)});
    Client client(gate_->port(), 4096);
    Exchange* exchange = begin(client);
    const size_t before = send_until_lag(exchange);
    send(exchange, "overtaken");
    send(exchange, "overtaken, too");
    send(exchange, "newest");
    on_gate([&] { exchange->end_stream(); });
    EXPECT_EQ(client.read().status(), 200);
    const std::string body = client.read_to_end();
    EXPECT_EQ(body.substr(before), "newest");
}

TEST_F(GateStreamTest, AReaderThatNeverReadsIsClosedAndItsOwnerTold) {
    start({.write_deadline = std::chrono::milliseconds(1)});
    Client client(gate_->port(), 4096);
    Exchange* exchange = begin(client);
    const std::string piece(1 << 16, 'x');
    while (ended_ == 0) {
        on_gate([&] {
            if (ended_ == 0) exchange->send_piece(piece);
        });
    }
    while (gate_->figures().connections_open != 0) sync();
    EXPECT_EQ(ended_, 1);
    EXPECT_EQ(gate_->figures().deadline_closed_total, 1u);
    expect_served();
}

TEST_F(GateStreamTest, DrainEndsStreamsAtOnce) {
    start({.write_deadline = std::chrono::minutes(10)});
    Client reads = connect();
    Exchange* exchange = begin(reads);
    send(exchange, "piece\n");
    std::promise<void> drained;
    gate_->drain([&] { drained.set_value(); });
    drained.get_future().get();  // although the client has not gone
    EXPECT_EQ(ended_, 1);
    EXPECT_EQ(reads.read().status(), 200);
    EXPECT_EQ(reads.read_to_end(), "piece\n");
    gate_->stop();
}

TEST_F(GateStreamTest, AReaderThatNeverReadsDoesNotHoldUpTheDrain) {
    start({.write_deadline = std::chrono::minutes(10)});
    Client client(gate_->port(), 4096);
    send_until_lag(begin(client));
    std::promise<void> drained;
    gate_->drain([&] { drained.set_value(); });
    drained.get_future().get();
    EXPECT_EQ(ended_, 1);
    gate_->stop();
}

TEST_F(GateStreamTest, AStreamThatBeginsWhileDrainingSendsItsFirstPieceAndEnds) {
    start();
    Client client = connect();
    client.send(get("/later"));
    Exchange* exchange = handler_.wait_for_kept();
    std::promise<void> drained;
    gate_->drain([&] { drained.set_value(); });
    on_gate([&] {
        EXPECT_TRUE(exchange->begin_stream(head, *this, number));
        exchange->send_piece("piece\n");
    });
    drained.get_future().get();
    EXPECT_EQ(client.read().status(), 200);
    EXPECT_EQ(client.read_to_end(), "piece\n");
    EXPECT_EQ(ended_, 1);
    gate_->stop();
}

}  // namespace
}  // namespace doorbuster
