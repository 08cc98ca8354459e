#include "sandbox/server.hpp"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "config/rules.hpp"
#include "sandbox/pay_page.hpp"

namespace doorbuster::sandbox {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds accept_pause{100};
constexpr auto failed = boost::system::in_place_error;

std::string_view view(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

http::response<http::string_body> response_of(Reply reply, bool keep_alive) {
    http::response<http::string_body> response(static_cast<http::status>(reply.status), 11);
    response.set(http::field::content_type, reply.content_type);
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.set("Content-Security-Policy", pay_page_policy());
    if (!reply.location.empty()) response.set(http::field::location, reply.location);
    response.keep_alive(keep_alive);
    response.body() = std::move(reply.body);
    response.prepare_payload();
    return response;
}

// What a request that could not be read deserves; nothing where nobody is left to hear it.
std::optional<Reply> reply_to_unreadable(const error_code& error) {
    if (error == http::error::body_limit) return Reply{.status = 413, .body = R"({"error":"too_large"})"};
    if (error == http::error::header_limit) return Reply{.status = 431, .body = R"({"error":"too_large"})"};
    const bool is_gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                         error.category() != http::make_error_code(http::error::body_limit).category();
    if (is_gone) return std::nullopt;
    return Reply{.status = 400, .body = R"({"error":"malformed"})"};
}

}  // namespace

Result<tcp::endpoint, std::string> SandboxServer::listen(const std::string& address) {
    using Listening = Result<tcp::endpoint, std::string>;
    const auto parsed = parse_host_port(address);
    error_code error;
    const auto host = asio::ip::make_address(parsed ? parsed->host : "", error);
    if (!parsed || error) {
        return Listening(failed, "'" + address + "' is not an address to listen on: write 127.0.0.1:9280");
    }
    const tcp::endpoint endpoint(host, parsed->port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.set_option(tcp::no_delay(true), error);  // accepted sockets inherit it
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return Listening(failed, "cannot listen on " + address + ": " + error.message());
    return Listening(boost::system::in_place_value, acceptor_.local_endpoint());
}

Result<void, std::string> SandboxServer::run(const Parts& parts) {
    CHECK(acceptor_.is_open() && !parts_);
    parts_.emplace(parts);
    ::signal(SIGPIPE, SIG_IGN);
    asio::signal_set signals(context_, SIGTERM, SIGINT);
    signals.async_wait([this](const error_code& error, int) {
        if (!error) context_.stop();
    });
    asio::co_spawn(context_, accept_all(), asio::detached);
    context_.run();
    if (failure_) return *failure_;
    return {};
}

Moment SandboxServer::moment() const {
    return {.now = parts_->clock.now(), .uptime = parts_->clock.uptime()};
}

asio::awaitable<void> SandboxServer::accept_all() {
    for (;;) {
        error_code error;
        if (connections_ >= connections_max) {
            room_timer_.expires_at(asio::steady_timer::time_point::max());
            co_await room_timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
            continue;
        }
        tcp::socket socket =
            co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
        if (error) {  // out of file descriptors: those that are open will give some back
            co_await pause(accept_pause);
            continue;
        }
        ++connections_;
        asio::co_spawn(context_, serve(Stream(std::move(socket))), [this](const std::exception_ptr&) {
            --connections_;
            room_timer_.cancel();
        });
    }
}

asio::awaitable<void> SandboxServer::serve(Stream stream) {
    boost::beast::flat_buffer buffer(head_bytes_max + body_bytes_max);
    for (bool keep_alive = true; keep_alive;) {
        http::request_parser<http::string_body> parser;
        parser.header_limit(head_bytes_max);
        parser.body_limit(body_bytes_max);
        stream.expires_after(request_max);
        error_code error;
        co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, error));
        std::optional<Reply> reply;
        if (error) {
            reply = reply_to_unreadable(error);
            keep_alive = false;
        } else {
            stream.expires_never();  // what takes its time now are our own faults
            // An answer to HEAD must have no body, and ours have: whatever follows would be misread.
            keep_alive = parser.get().keep_alive() && parser.get().method() != http::verb::head;
            reply = co_await answer(parser.get());
        }
        if (!reply) break;
        auto response = response_of(*std::move(reply), keep_alive);
        stream.expires_after(write_max);
        co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, error));
        if (error) break;
        if (!keep_alive) co_await linger(stream);
    }
    error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
}

// Closing with bytes unread would reset the connection, and the client might never see the answer.
asio::awaitable<void> SandboxServer::linger(Stream& stream) {
    error_code error;
    stream.socket().shutdown(tcp::socket::shutdown_send, error);
    stream.expires_after(linger_max);
    std::array<char, 4096> unread;
    for (size_t bytes = 0; !error && bytes < linger_bytes_max;) {
        bytes += co_await stream.async_read_some(asio::buffer(unread),
                                                 asio::redirect_error(asio::use_awaitable, error));
    }
}

asio::awaitable<std::optional<Reply>> SandboxServer::answer(const Request& request) {
    const Ask ask{.method = view(request.method_string()),
                  .target = view(request.target()),
                  .authorization = view(request[http::field::authorization]),
                  .accept_language = view(request[http::field::accept_language]),
                  .body = request.body()};
    SandboxProvider::CallFault fault;
    if (SandboxApi::is_merchants(ask)) fault = parts_->provider.draw_call_fault();
    co_await pause(fault.before);
    if (fault.is_unreachable) co_return Reply{.status = 503, .body = R"({"error":"unreachable"})"};
    Reply reply = parts_->api.answer(ask, moment());
    settle();
    if (failure_) co_return std::nullopt;  // what is not in the journal has not happened
    co_await pause(fault.after);
    if (fault.is_answer_lost) co_return std::nullopt;
    co_return reply;
}

asio::awaitable<void> SandboxServer::pause(Uptime duration) {
    if (duration <= Uptime{}) co_return;
    asio::steady_timer timer(context_, duration);
    error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void SandboxServer::settle() {
    for (const Payment& change : parts_->provider.take_changes()) {
        if (!parts_->journal) continue;
        if (const auto written = parts_->journal->append(change); !written) {
            failure_ = "cannot write the journal: " + written.error();
            context_.stop();
            return;
        }
    }
    for (Webhook& webhook : parts_->provider.take_webhooks()) parts_->sender.put(std::move(webhook));
    wait_for_due();
}

void SandboxServer::wait_for_due() {
    const auto due = parts_->provider.next_due();
    if (!due) return;
    due_timer_.expires_after(std::max(Uptime{}, *due - parts_->clock.uptime()));
    due_timer_.async_wait([this](const error_code& error) {
        if (error) return;
        parts_->provider.advance(moment());
        settle();
    });
}

}  // namespace doorbuster::sandbox
