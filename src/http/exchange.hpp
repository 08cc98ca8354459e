// Exchange: one request and the one answer that it gets.
//
// Lives on its gate thread and is answered there, exactly once, now or later: a
// handler may keep the pointer, since an unanswered exchange is never destroyed, also
// when its client has gone away (answering is then a no-op). Work on other threads
// comes back with Gate::post.
//
// An answer may also be a stream: its body follows piece by piece, for as long as its owner
// and the client like. Its end is the end of the connection, not a chunk of length zero: a
// piece is whole or worth nothing (an event stream's reader drops an event without its empty
// line), so there is no cut to tell from an end, and HTTP/1.0 clients and proxies need no more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/address.hpp"
#include "http/problem.hpp"
#include "http/request.hpp"

namespace doorbuster {

class Gate;
class PreparedRefusal;

struct Response {
    int status = 200;
    std::string_view content_type = "application/json";
    std::string_view headers = {};  // further ones, complete lines each ended by CRLF
    std::string_view body = {};
};

// Who goes on with a stream.
class StreamOwner {
public:
    // The client has gone or was sent away: the exchange may not be used any more.
    // Called once for each stream that its owner has not ended.
    virtual void stream_ended(uint64_t stream) = 0;

protected:
    ~StreamOwner() = default;
};

class Exchange {
public:
    virtual const Request& request() const = 0;
    virtual Language language() const = 0;  // chosen from Accept-Language
    virtual Gate& gate() = 0;
    virtual const Address& peer() const = 0;  // the other end of the connection: perhaps a proxy

    // Lines that the answer will carry, whatever it turns out to be; each ended by CRLF.
    virtual void add_headers(std::string_view lines) = 0;

    virtual void answer(const Response&) = 0;
    virtual void refuse(Code) = 0;  // the preformatted bytes, for this exchange's language
    // With further header lines, a Retry-After of their own among them.
    virtual void refuse(Code, std::string_view headers) = 0;
    virtual void refuse(const Problem&) = 0;  // with details
    // Preformatted, too; `named` is the purchase that it names, if it is one that does.
    virtual void refuse(const PreparedRefusal&, const PurchaseId& named) = 0;

    // Answers with a stream, which the owner knows as `stream`. False if nothing will follow
    // the head: the client has gone already, or asked for no more than it.
    [[nodiscard]] virtual bool begin_stream(const Response& head, StreamOwner& owner, uint64_t stream) = 0;

    // Of a stream. While earlier pieces wait for the client to read, one more waits with
    // them, and a newer one takes its place: a reader who lags costs two pieces, no more.
    virtual void send_piece(std::string_view piece) = 0;
    virtual bool lags() const = 0;
    virtual void end_stream() = 0;  // when what waits has gone

protected:
    ~Exchange() = default;
};

}  // namespace doorbuster
