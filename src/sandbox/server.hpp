// SandboxServer: the sandbox provider on the wire.
//
// One thread, one coroutine per connection. Bounded: connections (beyond which accepting waits
// until one has gone), head and body of a request, and the time that a client may take for one.
//
// After every call the changes go to the journal before the answer goes to the client, and the
// webhooks to their sender.
//
// Thread safety: none; run blocks until SIGTERM or SIGINT, or until the journal fails.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "sandbox/api.hpp"
#include "sandbox/journal.hpp"
#include "sandbox/provider.hpp"
#include "sandbox/webhook_sender.hpp"

namespace doorbuster::sandbox {

class SandboxServer {
public:
    static constexpr size_t connections_max = 1024;
    static constexpr uint32_t head_bytes_max = 8 * 1024;
    static constexpr uint64_t body_bytes_max = 16 * 1024;
    static constexpr std::chrono::seconds request_max{30};  // from the last answer to the whole next request
    static constexpr std::chrono::seconds write_max{10};
    static constexpr std::chrono::seconds linger_max{1};
    static constexpr size_t linger_bytes_max = 256 * 1024;

    struct Parts {
        SandboxProvider& provider;
        SandboxApi& api;
        WebhookSender& sender;
        std::optional<Journal>& journal;
        Clock& clock;
    };

    SandboxServer() = default;

    // The address that it really listens on. The error says what is wrong with the given one.
    [[nodiscard]] Result<boost::asio::ip::tcp::endpoint, std::string> listen(const std::string& address);

    // REQUIRES: listen has succeeded.
    [[nodiscard]] Result<void, std::string> run(const Parts& parts);

private:
    using Stream = boost::beast::tcp_stream;
    using Request = boost::beast::http::request<boost::beast::http::string_body>;
    template <class Value>
    using Task = boost::asio::awaitable<Value>;

    Task<void> accept_all();
    Task<void> serve(Stream stream);
    static Task<void> linger(Stream& stream);
    Task<std::optional<Reply>> answer(const Request& request);  // none: the answer is lost
    Task<void> pause(Uptime duration);
    Moment moment() const;
    void settle();
    void wait_for_due();

    std::optional<Parts> parts_;
    std::optional<std::string> failure_;
    size_t connections_ = 0;

    // Behind what its coroutines look at: they end with it.
    boost::asio::io_context context_{1};
    boost::asio::ip::tcp::acceptor acceptor_{context_};
    boost::asio::steady_timer due_timer_{context_};
    boost::asio::steady_timer room_timer_{context_};  // cancelled when a connection has gone
};

}  // namespace doorbuster::sandbox
