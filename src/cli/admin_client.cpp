#include "cli/admin_client.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <exception>

namespace doorbuster {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Request = http::request<http::string_body>;

constexpr uint64_t answer_bytes_max = 64 << 20;

struct Progress {
    bool connected = false;  // from here on the server may have acted
    bool finished = false;
    AdminAnswer answer;
    std::exception_ptr error;
};

asio::awaitable<void> exchange(const HostPort& server, const Request& request, Progress& progress) {
    const auto executor = co_await asio::this_coro::executor;
    asio::ip::tcp::resolver resolver(executor);
    const auto endpoints =
        co_await resolver.async_resolve(server.host, std::to_string(server.port), asio::use_awaitable);
    boost::beast::tcp_stream stream(executor);
    co_await stream.async_connect(endpoints, asio::use_awaitable);
    progress.connected = true;
    co_await http::async_write(stream, request, asio::use_awaitable);

    boost::beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(answer_bytes_max);
    co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
    auto& response = parser.get();
    progress.answer = {response.result_int(), std::string(response[http::field::etag]),
                       std::move(response.body())};
    progress.finished = true;
}

std::string reason_of(const std::exception_ptr& error, std::chrono::seconds deadline) {
    if (!error) return "no answer within " + std::to_string(deadline.count()) + " s";
    try {
        std::rethrow_exception(error);
    } catch (const boost::system::system_error& failed) {
        return failed.code().message();
    } catch (const std::exception& failed) {
        return failed.what();
    }
}

std::string authority_of(const HostPort& server) {
    const bool is_ipv6 = server.host.find(':') != server.host.npos;
    return (is_ipv6 ? '[' + server.host + ']' : server.host) + ':' + std::to_string(server.port);
}

}  // namespace

Result<HostPort, std::string> parse_admin_address(std::string_view text) {
    using Parsed = Result<HostPort, std::string>;
    constexpr auto failed = boost::system::in_place_error;
    std::string_view rest = text;
    if (rest.starts_with("https://")) {
        return Parsed(failed, "the admin listener speaks plain HTTP: write http:// or host:port");
    }
    if (rest.starts_with("http://")) rest.remove_prefix(7);
    if (rest.ends_with('/')) rest.remove_suffix(1);
    auto parsed = parse_host_port(rest);
    if (!parsed || parsed->port == 0 || rest.find('/') != rest.npos) {
        return Parsed(failed, "'" + std::string(text) +
                                  "' is not an admin address: write host:port or http://host:port");
    }
    // Bound to every address means reachable at this machine's own.
    if (parsed->host == "0.0.0.0") parsed->host = "127.0.0.1";
    if (parsed->host == "::") parsed->host = "::1";
    return Parsed(boost::system::in_place_value, *std::move(parsed));
}

AdminClient::AdminClient(HostPort server, std::string key)
    : server_(std::move(server)), key_(std::move(key)) {}

Result<AdminAnswer, std::string> AdminClient::call(const AdminCall& call) const {
    Request request;
    request.method_string(call.method);
    request.target(call.path);
    request.set(http::field::host, authority_of(server_));
    request.set(http::field::user_agent, "doorbuster");
    request.set(http::field::accept, "application/json, application/problem+json");
    request.set(http::field::authorization, "Bearer " + key_);
    request.set(http::field::connection, "close");
    if (!call.if_match.empty()) request.set(http::field::if_match, call.if_match);
    if (!call.body.empty()) request.set(http::field::content_type, "application/json");
    request.body() = call.body;
    request.prepare_payload();

    Progress progress;  // outlives the io_context, which may still hold the exchange
    asio::io_context context(1);
    asio::co_spawn(context, exchange(server_, request, progress),
                   [&progress](const std::exception_ptr& error) { progress.error = error; });
    context.run_for(call.deadline);

    using Answer = Result<AdminAnswer, std::string>;
    if (progress.finished) return Answer(boost::system::in_place_value, std::move(progress.answer));
    const std::string where = authority_of(server_), reason = reason_of(progress.error, call.deadline);
    if (!progress.connected) {
        return "cannot reach the admin listener at " + where + " (" + reason +
               "): is the server running? (doorbuster dev / serve)";
    }
    std::string sentence = "the admin listener at " + where + " gave no answer (" + reason + ")";
    if (call.method != "GET") {
        sentence +=
            ": the change may or may not have happened; look with `doorbuster sale show` before repeating it";
    }
    return sentence;
}

}  // namespace doorbuster
