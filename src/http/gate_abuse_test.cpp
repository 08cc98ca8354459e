// Clients that mean harm, or are broken: each gets its answer and is closed, and an
// honest client beside it notices nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/log.hpp"
#include "http/connections.hpp"
#include "http/gate_fixture.hpp"

namespace doorbuster {
namespace {

const std::string line = "POST /echo HTTP/1.1\r\n";
const std::string host = "Host: shop\r\n";

class GateAbuseTest : public GateTest {
protected:
    void expect_rejected(const std::string& bytes, int status) {
        Client client = connect();
        client.send(bytes);
        const Received reply = client.read();
        EXPECT_EQ(reply.status(), status) << bytes;
        EXPECT_TRUE(reply.has("Connection: close")) << bytes;
        EXPECT_TRUE(client.is_closed()) << bytes;
        expect_served();
    }
};

TEST_F(GateAbuseTest, AmbiguousBodyLengthsAreMalformed) {
    start();
    const std::string smuggled = "\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const char* fields : {
             "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
             "Content-Length: 4\r\nContent-Length: 4\r\n",
             "Content-Length: 4\r\nContent-Length: 5\r\n",
             "Content-Length: 4, 4\r\n",
             "Content-Length: 4,\r\n",
             "Content-Length: +4\r\n",
             "Content-Length: -4\r\n",
             "Content-Length: 0x4\r\n",
             "Content-Length: 4 4\r\n",
             "Content-Length:\r\n",
             "Content-Length: 18446744073709551616\r\n",
             "Transfer-Encoding: gzip, chunked\r\n",
             "Transfer-Encoding: chunked, identity\r\n",
             "Transfer-Encoding: identity\r\n",
             "Transfer-Encoding: xchunked\r\n",
             "Transfer-Encoding: \"chunked\"\r\n",
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding:\x0b chunked\r\n",
             "Transfer-Encoding:\r\n chunked\r\n",
         }) {
        expect_rejected(line + host + fields + smuggled, 400);
    }
    expect_rejected("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" + smuggled, 400);
}

TEST_F(GateAbuseTest, MalformedHeadsAreRejected) {
    start();
    using namespace std::string_literals;
    for (const std::string& head :
         {line + host + "X-Folded: a\r\n b\r\n\r\n",
          line + host + "X-Folded:\r\n\tb\r\n\r\n",
          line + " " + host + "\r\n",
          line + "Host : shop\r\n\r\n",
          line + host + "X Y: z\r\n\r\n",
          line + host + "X: a\rb\r\n\r\n",
          line + host + "X: a\nY: b\r\n\r\n",
          line + host + "X: a\0b\r\n\r\n"s,
          line + host + "X\0: b\r\n\r\n"s,
          line + host + "X: a\x7f\r\n\r\n",
          line + host + ": empty\r\n\r\n",
          line + host + "nothing\r\n\r\n",
          "POST /echo HTTP/1.1\nHost: shop\n\n"s,
          line + "\r\n",
          line + host + host + "\r\n",
          line + host + "Host: other\r\n\r\n",
          "\r\n"s + line + host + "\r\n",
          "POST  /echo HTTP/1.1\r\n" + host + "\r\n",
          "POST /echo\r\n" + host + "\r\n",
          "POST /echo HTTP/2.0\r\n" + host + "\r\n",
          "POST /echo HTTP/1.2\r\n" + host + "\r\n",
          "POST /ec\tho HTTP/1.1\r\n" + host + "\r\n",
          "P(ST /echo HTTP/1.1\r\n" + host + "\r\n",
          "GET http://shop/echo HTTP/1.1\r\n" + host + "\r\n",
          "OPTIONS * HTTP/1.1\r\n" + host + "\r\n",
          "CONNECT shop:443 HTTP/1.1\r\n" + host + "\r\n",
          line + host + "Expect: wonders\r\n\r\n",
          line + host + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
          line + host + "Idempotency-Key: a\r\nidempotency-key: b\r\n\r\n",
          "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03 a TLS hello\r\n\r\n"s}) {
        expect_rejected(head, 400);
    }
    EXPECT_GE(gate_->figures().malformed_total, 30u);
}

TEST_F(GateAbuseTest, MalformedChunksAreRejected) {
    start();
    const std::string head = line + host + "Transfer-Encoding: chunked\r\n\r\n";
    for (const char* body :
         {"\r\n", "x\r\n", "-1\r\n", "0x3\r\nabc\r\n", " 3\r\nabc\r\n", "3 \r\nabc\r\n", "3\nabc\r\n",
          "3\r\nabcd\r\n", "3\r\nabc\n0\r\n\r\n", "FFFFFFFFFFFFFFFF\r\n", "100000000\r\n",
          "3;a\nb\r\nabc\r\n", "0\r\n folded\r\n\r\n", "0\r\nT: a\n\r\n"}) {
        expect_rejected(head + body, 400);
    }
    expect_rejected(head + "3;" + std::string(5000, 'x') + "\r\n", 400);
    expect_rejected(head + "0\r\nT: " + std::string(5000, 'x') + "\r\n", 400);
}

TEST_F(GateAbuseTest, LargeHeadsAreRejected) {
    start();
    expect_rejected(line + host + "X: " + std::string(17 * 1024, 'x'), 431);
    expect_rejected("GET /" + std::string(17 * 1024, 'x'), 431);
    std::string many = line + host;
    for (int i = 0; i < 99; ++i) many += "X: y\r\n";
    Client client = connect();
    EXPECT_EQ(client.ask(many + "\r\n").status(), 200);
    expect_rejected(many + "X: y\r\n\r\n", 431);
}

TEST_F(GateAbuseTest, LargeBodiesAreRejectedBeforeTheyAreRead) {
    start({.body_bytes_max = 100});
    expect_rejected(line + host + "Content-Length: 101\r\n\r\n", 413);
    expect_rejected(line + host + "Content-Length: 18446744073709551615\r\n\r\n", 413);
    expect_rejected(line + host + "Expect: 100-continue\r\nContent-Length: 101\r\n\r\n", 413);
    expect_rejected(line + host + "Transfer-Encoding: chunked\r\n\r\n65\r\n", 413);
    expect_rejected(
        line + host + "Transfer-Encoding: chunked\r\n\r\n32\r\n" + std::string(50, 'x') + "\r\n33\r\n", 413);
    Client client = connect();
    EXPECT_EQ(client.ask(post("/echo", std::string(100, 'x'))).status(), 200);
}

TEST_F(GateAbuseTest, AnswersBeforeAFaultStillArrive) {
    start();
    Client client = connect();
    client.send(get("/echo") + "rubbish\r\n\r\n" + std::string(100'000, 'x'));
    EXPECT_EQ(client.read().status(), 200);
    EXPECT_EQ(client.read().status(), 400);
    EXPECT_TRUE(client.is_closed());
}

TEST_F(GateAbuseTest, SlowClientsAreClosedAtTheirDeadline) {
    start({.header_deadline = soon, .body_deadline = soon, .write_deadline = soon, .idle_deadline = soon});
    Client silent = connect();
    EXPECT_TRUE(silent.is_closed());

    Client slow_head = connect();
    slow_head.send("GET /echo HTTP/1.1\r\nHo");
    EXPECT_EQ(slow_head.read().status(), 408);
    EXPECT_TRUE(slow_head.is_closed());

    Client slow_body = connect();
    slow_body.send(line + host + "Content-Length: 9\r\n\r\nabc");
    EXPECT_EQ(slow_body.read().status(), 408);
    EXPECT_TRUE(slow_body.is_closed());

    expect_served();
    sync();
    EXPECT_GE(gate_->figures().deadline_closed_total, 3u);
}

TEST_F(GateAbuseTest, ANewConnectionThatSendsNothingHasNoLongerThanAHeader) {
    start({.header_deadline = soon});  // and a minute for who has asked
    Client served = connect();
    EXPECT_EQ(served.ask(get("/echo")).status(), 200);
    Client silent = connect();
    EXPECT_TRUE(silent.is_closed());
    EXPECT_EQ(served.ask(get("/echo")).status(), 200);
}

TEST_F(GateAbuseTest, ANewcomerIsServedWhileSilentConnectionsTakeAllTheRoom) {
    start({.connections_max = 3});
    Client served = connect();
    EXPECT_EQ(served.ask(get("/echo")).status(), 200);
    Client first = connect(), second = connect();
    while (gate_->figures().connections_open < 3) sync();
    Client newcomer = connect();
    EXPECT_EQ(newcomer.ask(get("/echo")).status(), 200);
    EXPECT_TRUE(first.is_closed()) << "silent for the longest";
    EXPECT_EQ(served.ask(get("/echo")).status(), 200) << "who has asked before stays, longer";
    EXPECT_EQ(second.ask(get("/echo")).status(), 200);
    EXPECT_EQ(gate_->figures().idle_closed_total, 1u);
}

TEST_F(GateAbuseTest, DrippingBytesDoNotMoveTheDeadline) {
    start({.header_bytes_max = 1 << 20, .header_deadline = soon});
    Client client = connect();
    client.send(line + "X: ");
    // If each byte moved the deadline, this would end at the header's limit, with 431.
    while (gate_->figures().deadline_closed_total + gate_->figures().malformed_total == 0) {
        client.send("y");
        sync();
    }
    EXPECT_EQ(client.read().status(), 408);
    EXPECT_TRUE(client.is_closed());
}

TEST_F(GateAbuseTest, AReaderThatNeverReadsIsClosed) {
    using namespace std::chrono_literals;
    start({.write_deadline = 1ms});
    Client client(gate_->port(), 4096);
    for (int i = 0; i < 8; ++i) client.send(get("/big"));
    while (gate_->figures().deadline_closed_total == 0) expect_served();
    while (gate_->figures().connections_open != 0) sync();
    EXPECT_EQ(gate_->figures().malformed_total, 0u);
}

TEST_F(GateAbuseTest, ANewcomerIsServedInThePlaceOfAReaderThatNeverReads) {
    start({.connections_max = 1});
    Client never_reads(gate_->port(), 4096);
    for (int i = 0; i < 8; ++i) never_reads.send(get("/big"));
    while (gate_->figures().connections_open < 1) sync();
    Client newcomer = connect();
    EXPECT_EQ(newcomer.ask(get("/echo")).status(), 200);
    EXPECT_EQ(gate_->figures().idle_closed_total, 1u);
    EXPECT_EQ(gate_->figures().deadline_closed_total, 0u) << "its deadline is longer than that";
}

// A gate's connections without its thread: the test says how late it is and when bytes are read.
class MakeRoomTest : public ::testing::Test {
protected:
    static constexpr std::chrono::seconds grace{2};  // of who is idle, or has sent half a request

    Client connect() {
        int ends[2];
        // Neither end waits: what is not here when the loop has run never comes.
        CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
        CHECK(connections_.add(Descriptor(ends[1]), Address{}));
        run();
        return Client(Descriptor(ends[0]));
    }
    void send(Client& client, std::string_view bytes) {
        client.send(bytes);
        run();
    }
    void run() {
        while (loop_.run_once()) {
        }
    }
    void pass(std::chrono::seconds time) { connections_.tick(now_ += time); }

    EventLoop loop_;
    Gate gate_{0, {.listen = "127.0.0.1:0"}};
    TestHandler handler_;
    Connections connections_{gate_, loop_, {}, [] {}};
    Connection::Time now_ = std::chrono::steady_clock::now();

    const std::string half_ = line + host + "Content-Length: 6\r\n\r\nabc", rest_ = "def";

    MakeRoomTest() { connections_.set_handler(handler_); }
};

TEST_F(MakeRoomTest, WhoIsIdleGoesBeforeHalfARequest) {
    Client half = connect(), idle = connect();
    send(half, half_);
    send(idle, line + host + "\r\n");
    EXPECT_EQ(idle.read().status(), 200);
    EXPECT_FALSE(connections_.make_room()) << "they moved a moment ago";
    pass(grace);
    EXPECT_TRUE(connections_.make_room());
    EXPECT_TRUE(idle.is_closed());
    send(half, rest_);
    EXPECT_EQ(half.read().status(), 200);
}

TEST_F(MakeRoomTest, WhoHasItsLastAnswerGoesFirstAndHalfARequestHearsThatItTookTooLong) {
    Client head = connect(), body = connect(), lingerer = connect();
    send(head, "G");
    send(body, half_);
    send(lingerer, "nonsense\r\n\r\n");
    EXPECT_EQ(lingerer.read().status(), 400);  // and it never closes
    pass(grace);
    EXPECT_TRUE(connections_.make_room());
    EXPECT_EQ(connections_.figures().connections_open, 2u);
    EXPECT_TRUE(connections_.make_room());
    EXPECT_EQ(head.read().status(), 408);
    EXPECT_TRUE(head.is_closed());
    EXPECT_TRUE(connections_.make_room());
    EXPECT_EQ(body.read().status(), 408);
    EXPECT_TRUE(body.is_closed());
    EXPECT_FALSE(connections_.make_room()) << "nobody is left";
    EXPECT_EQ(connections_.figures().idle_closed_total, 3u);
    EXPECT_EQ(connections_.figures().deadline_closed_total, 0u) << "the deadlines are longer than that";
}

TEST_F(MakeRoomTest, HalfARequestWhoseRestIsHereIsAnswered) {
    const std::pair<std::string, std::string> halves[] = {{half_, rest_}, {line, host + "\r\n"}};
    for (const auto& [half, rest] : halves) {
        Client client = connect();
        send(client, half);
        pass(grace);
        client.send(rest);  // and nobody has read it
        EXPECT_FALSE(connections_.make_room());
        run();
        EXPECT_EQ(client.read().status(), 200) << half;
        client.leave();
        run();
    }
}

TEST_F(MakeRoomTest, WhoDripsGivesWayAlthoughAByteIsOnItsWay) {
    Client client = connect();
    send(client, line);
    pass(grace);
    client.send("X");
    EXPECT_FALSE(connections_.make_room()) << "it might have been the rest";
    run();
    EXPECT_FALSE(connections_.make_room()) << "the other half has its moment";
    pass(grace);
    client.send("X");
    EXPECT_TRUE(connections_.make_room());
    EXPECT_EQ(client.read().status(), 408);
    EXPECT_TRUE(client.is_closed());
    EXPECT_EQ(connections_.figures().connections_open, 0u);
}

TEST_F(MakeRoomTest, EachRequestIsSparedForItself) {
    Client client = connect();
    for (int i = 0; i < 3; ++i) {
        send(client, half_);
        pass(grace);
        client.send(rest_);
        EXPECT_FALSE(connections_.make_room());
        run();
        EXPECT_EQ(client.read().status(), 200);
    }
}

TEST_F(MakeRoomTest, WhoIsRefusedMeanwhileHearsOneRefusal) {
    Client client = connect();
    send(client, "nonsense");
    pass(grace);
    connections_.gather([&] {
        client.send("\r\n\r\n");
        loop_.run_once();
        EXPECT_FALSE(connections_.make_room()) << "its refusal has not left yet";
    });
    EXPECT_EQ(client.read().status(), 400);
    EXPECT_TRUE(client.is_closed()) << "nothing behind it";
    pass(grace);
    EXPECT_TRUE(connections_.make_room()) << "it has its last answer";
}

TEST_F(GateAbuseTest, WithoutFileDescriptorsAcceptingPausesAndTheOthersGoOn) {
    start();
    set_log_level("off");  // UBSan looks at objects through a pipe, which it could not open
    Client before = connect();
    EXPECT_EQ(before.ask(get("/echo")).status(), 200);

    rlimit usual;
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    rlimit tight = usual;
    tight.rlim_cur = static_cast<rlim_t>(lowest_free) + 1;  // room for the client's end alone
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    Client late = connect();
    late.send(get("/echo"));
    while (gate_->figures().accept_pauses_total == 0) EXPECT_EQ(before.ask(get("/echo")).status(), 200);
    EXPECT_EQ(gate_->figures().connections_open, 1u);

    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
    EXPECT_EQ(late.read().status(), 200);
    set_log_level("info");
}

TEST_F(GateAbuseTest, APipeliningFloodIsBounded) {
    start();
    Client client = connect();
    client.send(get("/later"));
    Exchange* exchange = handler_.wait_for_kept();
    std::string flood;
    for (int i = 0; i < 300; ++i) flood += get("/echo");
    client.send(flood);
    sync();
    EXPECT_EQ(gate_->figures().requests_total, 1u);
    expect_served();
    gate_->post([&] { exchange->answer({}); });
    for (int i = 0; i < 301; ++i) ASSERT_EQ(client.read().status(), 200);
}

}  // namespace
}  // namespace doorbuster
