#include "http/gate.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "http/gate_fixture.hpp"

namespace doorbuster {
namespace {

TEST_F(GateTest, AnswersManyRequestsOnOneConnection) {
    start();
    Client client = connect();
    for (int i = 0; i < 3; ++i) {
        const Received reply = client.ask(post("/echo?a=b", "{\"n\":" + std::to_string(i) + "}"));
        EXPECT_EQ(reply.status(), 200);
        EXPECT_EQ(reply.body, "/echo|a=b|{\"n\":" + std::to_string(i) + "}|");
        EXPECT_NE(reply.head.find("\r\nDate: "), std::string::npos);
    }
    EXPECT_EQ(gate_->figures().connections_total, 1u);
    EXPECT_EQ(gate_->figures().requests_total, 3u);
}

TEST_F(GateTest, ReadsTheFieldsThatPurchasesNeed) {
    start();
    Client client = connect();
    EXPECT_EQ(client.ask(get("/echo", "idempotency-KEY:  k-1 \r\nAuthorization: Bearer x\r\n")).body,
              "/echo|||k-1");
}

TEST_F(GateTest, AnswersARequestThatArrivesByteByByte) {
    start();
    Client client = connect();
    for (const char byte : post("/echo", "body")) client.send({&byte, 1});
    EXPECT_EQ(client.read().body, "/echo||body|");
}

TEST_F(GateTest, AnswersPipelinedRequestsInOrder) {
    start();
    Client client = connect();
    std::string all;
    for (int i = 0; i < 3000; ++i) all += post("/echo", std::to_string(i));
    client.send(all);
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(client.read().body, "/echo||" + std::to_string(i) + "|");
}

TEST_F(GateTest, PipelinedRequestsWaitForAnAnswerThatComesLate) {
    start();
    Client client = connect();
    client.send(get("/later") + post("/echo", "second"));
    Exchange* first = handler_.wait_for_kept();
    EXPECT_EQ(gate_->figures().requests_total, 1u);
    gate_->post([&] { first->answer({.body = "first"}); });
    EXPECT_EQ(client.read().body, "first");
    EXPECT_EQ(client.read().body, "/echo||second|");
}

TEST_F(GateTest, HandsTheBooksAnswerToItsExchange) {
    start();
    Client client = connect();
    client.send(get("/decided"));
    PurchaseReply reply;
    reply.reply_to = static_cast<void*>(handler_.wait_for_kept());
    reply.answer.sequence = 7;
    gate_->deliver({&reply, 1});
    const Received answer = client.read();
    EXPECT_EQ(answer.status(), 202);
    EXPECT_EQ(answer.body, "7");
}

TEST_F(GateTest, SurvivesAClientThatLeftBeforeItsAnswer) {
    start();
    Client client = connect();
    client.send(get("/later") + get("/echo"));
    Exchange* exchange = handler_.wait_for_kept();
    client.leave();
    gate_->post([&] { exchange->answer({.body = "to nobody"}); });
    sync();
    expect_served();
}

TEST_F(GateTest, AnswersHeadLikeGetWithoutTheBody) {
    start();
    Client client = connect();
    client.send("HEAD /echo HTTP/1.1\r\nHost: shop\r\n\r\n");
    EXPECT_TRUE(client.read(false).has("Content-Length: 8"));
    client.send("HEAD /sold HTTP/1.1\r\nHost: shop\r\n\r\n");
    EXPECT_EQ(client.read(false).status(), 409);
    EXPECT_EQ(client.ask(get("/echo")).body, "/echo|||");
}

TEST_F(GateTest, SendsNoBodyWith204) {
    start();
    Client client = connect();
    const Received reply = client.ask(get("/empty"));
    EXPECT_EQ(reply.status(), 204);
    EXPECT_TRUE(reply.has("X-Extra: yes"));
    EXPECT_EQ(reply.head.find("Content-Length"), std::string::npos);
    EXPECT_EQ(client.ask(get("/echo")).status(), 200);
}

TEST_F(GateTest, RefusesInTheClientsLanguage) {
    start();
    Client client = connect();
    const Received english = client.ask(get("/sold"));
    EXPECT_EQ(english.status(), 409);
    EXPECT_TRUE(english.has("Content-Type: application/problem+json"));
    EXPECT_TRUE(english.has("Content-Language: en"));
    EXPECT_TRUE(english.has("Cache-Control: no-store"));
    EXPECT_EQ(
        english.body,
        R"({"type":"urn:doorbuster:problem:sold_out","title":"Sold out","status":409,"code":"sold_out"})");
    EXPECT_NE(client.ask(get("/sold", "Accept-Language: zh-CN\r\n")).body.find("已售罄"), std::string::npos);
    EXPECT_NE(client.ask(get("/invalid", "Accept-Language: zh-TW\r\n")).body.find("請求內容無效"),
              std::string::npos);
}

TEST_F(GateTest, TellsRefusedClientsHowToGoOn) {
    start();
    Client client = connect();
    EXPECT_TRUE(client.ask(get("/who")).has("WWW-Authenticate: Bearer"));
    std::set<std::string> waits;
    for (int i = 0; i < 9; ++i) {
        const Received busy = client.ask(get("/busy"));
        EXPECT_EQ(busy.status(), 503);
        waits.insert(busy.head.substr(busy.head.find("Retry-After: "), 14));
    }
    EXPECT_EQ(waits, (std::set<std::string>{"Retry-After: 1", "Retry-After: 2", "Retry-After: 3"}));
    EXPECT_NE(client.ask(get("/invalid"))
                  .body.find(R"("errors":[{"pointer":"/quantity","detail":"must be \"1\""}])"),
              std::string::npos);
}

TEST_F(GateTest, ClosesWhenTheClientWantsItSo) {
    start();
    Client client = connect();
    const Received reply = client.ask(get("/echo", "Connection: close\r\n") + get("/echo"));
    EXPECT_TRUE(reply.has("Connection: close"));
    EXPECT_TRUE(client.is_closed());

    Client old = connect();
    EXPECT_TRUE(old.ask("GET /echo HTTP/1.0\r\n\r\n").has("Connection: close"));
    EXPECT_TRUE(old.is_closed());

    Client kept = connect();
    const std::string keeps = "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    EXPECT_TRUE(kept.ask(keeps).has("Connection: keep-alive"));
    EXPECT_EQ(kept.ask(keeps).status(), 200);
}

TEST_F(GateTest, TakesChunkedBodies) {
    start();
    Client client = connect();
    const std::string head = "POST /echo HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string body = "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n";
    EXPECT_EQ(client.ask(head + body + get("/echo")).body, "/echo||abc0123456789|");
    EXPECT_EQ(client.read().body, "/echo|||");
    for (const char byte : head + body) client.send({&byte, 1});
    EXPECT_EQ(client.read().body, "/echo||abc0123456789|");
}

TEST_F(GateTest, AnswersExpectContinueBeforeTheBody) {
    start();
    Client client = connect();
    client.send("POST /echo HTTP/1.1\r\nHost: shop\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    EXPECT_EQ(client.read().status(), 100);
    EXPECT_EQ(client.ask("body").body, "/echo||body|");
}

TEST_F(GateTest, KeepsAnIncompletePipelinedRequestWholeWhenItMakesRoom) {
    start({.body_bytes_max = 100, .header_bytes_max = 300});
    Client client = connect();
    const std::string body(100, 'b');
    const std::string whole = post("/echo", body);
    for (size_t cut = 1; cut < whole.size(); cut += 7) {
        client.send(get("/echo") + whole.substr(0, cut));
        ASSERT_EQ(client.read().status(), 200);
        client.send(whole.substr(cut));
        ASSERT_EQ(client.read().body, "/echo||" + body + "|");
    }
}

TEST_F(GateTest, SendsAnswersLargerThanTheSocketTakes) {
    start();
    Client client(gate_->port(), 4096);
    client.send(get("/big") + get("/big") + get("/echo"));
    EXPECT_EQ(client.read().body.size(), size_t{1} << 20);
    EXPECT_EQ(client.read().body.size(), size_t{1} << 20);
    EXPECT_EQ(client.read().status(), 200);
}

TEST_F(GateTest, DrainAnswersWhatIsInHandAndClosesTheRest) {
    start();
    Client idle = connect();
    EXPECT_EQ(idle.ask(get("/echo")).status(), 200);
    Client waits = connect();
    waits.send(get("/later"));
    Exchange* exchange = handler_.wait_for_kept();

    std::promise<void> drained;
    gate_->drain([&] { drained.set_value(); });
    EXPECT_TRUE(idle.is_closed());
    sync();
    auto future = drained.get_future();
    EXPECT_EQ(future.wait_for(std::chrono::seconds(0)), std::future_status::timeout);

    gate_->post([&] { exchange->answer({.body = "promised"}); });
    const Received reply = waits.read();
    EXPECT_EQ(reply.body, "promised");
    EXPECT_TRUE(reply.has("Connection: close"));
    future.get();
    gate_->stop();
}

// Both are there when the loop looks: the request is handled before the drain, and its answer leaves after
// it.
TEST_F(GateTest, ADrainThatComesWithARequestAnswersItAndCloses) {
    start({.idle_deadline = std::chrono::minutes(10)});
    Client client = connect();
    EXPECT_EQ(client.ask(get("/echo")).status(), 200);
    std::promise<void> held, go_on, drained;
    gate_->post([&] {
        held.set_value();
        go_on.get_future().wait();
    });
    held.get_future().wait();
    client.send(get("/echo"));
    gate_->drain([&] { drained.set_value(); });
    go_on.set_value();
    EXPECT_EQ(client.read().status(), 200);
    EXPECT_TRUE(client.is_closed());
    drained.get_future().get();
    gate_->stop();
}

TEST_F(GateTest, AcceptingPausesAtTheBoundUntilOneCloses) {
    start({.connections_max = 2});
    Client first = connect(), second = connect();
    EXPECT_EQ(first.ask(get("/echo")).status(), 200);
    EXPECT_EQ(second.ask(get("/echo")).status(), 200);
    Client third = connect();  // the kernel lets it in, the gate does not yet
    third.send(get("/echo"));
    EXPECT_EQ(first.ask(get("/echo")).status(), 200);
    EXPECT_EQ(gate_->figures().connections_open, 2u);
    first.leave();
    EXPECT_EQ(third.read().status(), 200);
    EXPECT_GE(gate_->figures().accept_pauses_total, 1u);
}

TEST_F(GateTest, SaysThatThePortIsInUseBeforeAnythingStarts) {
    const int other = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);  // as another Doorbuster would
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(other, 1), 0);
    socklen_t size = sizeof address;
    ::getsockname(other, reinterpret_cast<sockaddr*>(&address), &size);
    const std::string listen = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    EXPECT_THROW(Gate(0, {.listen = listen}), std::runtime_error);
    ::close(other);
    EXPECT_NO_THROW(Gate(0, {.listen = listen}));
}

TEST_F(GateTest, GatesOfOneProcessShareAPort) {
    start();
    TestHandler handler;
    Gate second(1, {.listen = "127.0.0.1:" + std::to_string(gate_->port())});
    second.set_handler(handler);
    second.start();
    EXPECT_EQ(second.port(), gate_->port());
    for (int i = 0; i < 20; ++i) expect_served();
}

TEST_F(GateTest, RefusesAddressesThatAreNone) {
    for (const char* listen :
         {"8080", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", ":80", "localhost:80"}) {
        EXPECT_THROW(Gate(0, {.listen = listen}), std::runtime_error) << listen;
    }
}

}  // namespace
}  // namespace doorbuster
