// Exchange: one request and the one answer that it gets.
//
// Lives on its gate thread and is answered there, exactly once, now or later: a
// handler may keep the pointer, since an unanswered exchange is never destroyed, also
// when its client has gone away (answering is then a no-op). Work on other threads
// comes back with Gate::post.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/address.hpp"
#include "http/problem.hpp"
#include "http/request.hpp"

namespace doorbuster {

class Gate;

struct Response {
    int status = 200;
    std::string_view content_type = "application/json";
    std::string_view headers = {};  // further ones, complete lines each ended by CRLF
    std::string_view body = {};
};

class Exchange {
public:
    virtual const Request& request() const = 0;
    virtual Language language() const = 0;  // chosen from Accept-Language
    virtual Gate& gate() = 0;
    virtual const Address& peer() const = 0;  // the other end of the connection: perhaps a proxy

    virtual void answer(const Response&) = 0;
    virtual void refuse(Code) = 0;  // the preformatted bytes, for this exchange's language
    // With further header lines, a Retry-After of their own among them.
    virtual void refuse(Code, std::string_view headers) = 0;
    virtual void refuse(const Problem&) = 0;  // with details

protected:
    ~Exchange() = default;
};

}  // namespace doorbuster
