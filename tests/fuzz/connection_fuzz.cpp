// A whole connection: bytes from a client become requests, and answers go back to it.
//
// The first byte says how large the packets are. However the bytes are cut into packets, the
// handler hears the same requests and the client the same answers, one for each and at most one
// refusal behind them; and when the client has gone, nothing of it stays open. Where a newcomer wants its
// place with each packet, the handler hears the same up to where it had to go.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/check.hpp"
#include "http/connections.hpp"

namespace doorbuster {
namespace {

struct Answering final : Handler {
    std::string heard;
    size_t requests = 0;

    void handle(Exchange& exchange) override {
        const Request& request = exchange.request();
        heard.append(request.path).append("?").append(request.query).append("|").append(request.body);
        heard += '\n';
        if (++requests % 2 == 0) return exchange.refuse(Code::sold_out);
        exchange.answer({.body = "{}"});
    }
    void purchase_decided(Exchange&, const PurchaseReply&) override {}
};

size_t count_of(std::string_view what, std::string_view text) {
    size_t count = 0;
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
    return count;
}

struct Talk {
    std::string heard, said;
    friend bool operator==(const Talk&, const Talk&) = default;
};

enum class Room : uint8_t { ample, wanted };

Talk talk(std::string_view bytes, size_t packet_size, Room room) {
    // Kept: the Date that all answers carry is the one of its making.
    static EventLoop loop;
    static Gate gate(0, {.listen = "127.0.0.1:0"});
    static Connections connections(
        gate, loop, {.body_bytes_max = 512, .header_bytes_max = 1024, .header_fields_max = 12}, [] {});
    Answering handler;
    connections.set_handler(handler);

    int ends[2];
    CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    CHECK(connections.add(Descriptor(ends[1]), Address{}));

    Talk talk;
    const auto listen = [&] {
        while (loop.run_once()) {
        }
        char part[4096];
        for (ssize_t got; (got = ::recv(ends[0], part, sizeof part, MSG_DONTWAIT)) > 0;) {
            talk.said.append(part, static_cast<size_t>(got));
        }
    };
    // With the packet unread, and with its answers not yet on their way, in turn.
    const auto make_room = [&](bool is_read) {
        static auto now = std::chrono::steady_clock::now();
        connections.tick(now += std::chrono::seconds(1));
        connections.gather([&] {
            if (is_read) loop.run_once();
            static_cast<void>(connections.make_room());
        });
    };
    for (size_t at = 0; at < bytes.size(); at += packet_size) {
        const std::string_view packet = bytes.substr(at, packet_size);
        if (::send(ends[0], packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
        if (room == Room::wanted) make_room(at / packet_size % 2 == 1);
        listen();
    }
    ::shutdown(ends[0], SHUT_WR);
    listen();
    ::close(ends[0]);
    CHECK(connections.figures().connections_open == 0);

    // Asked for only where the body did not come with its head.
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    for (size_t at; (at = talk.said.find(go_on)) != talk.said.npos;) talk.said.erase(at, go_on.size());
    const size_t answers = count_of("HTTP/1.1 ", talk.said);
    CHECK(answers == handler.requests || answers == handler.requests + 1);
    talk.heard = std::move(handler.heard);
    return talk;
}

void fuzz(std::string_view input) {
    const size_t packet_size = 1 + static_cast<uint8_t>(input.front());
    const std::string text(input.substr(1));
    const Talk whole = talk(text, std::max<size_t>(1, text.size()), Room::ample);
    CHECK(talk(text, packet_size, Room::ample) == whole);
    CHECK(whole.heard.starts_with(talk(text, packet_size, Room::wanted).heard));
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 1) doorbuster::fuzz({reinterpret_cast<const char*>(data), size});
    return 0;
}
