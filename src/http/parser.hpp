// Reading a request's head, strictly: what two parsers could read differently is malformed.
//
// Beast reads the head; on top of it, since Beast is more lenient than a server behind a
// proxy may be: no folded lines, one Content-Length of digits alone, Transfer-Encoding
// exactly `chunked` and never beside a Content-Length or on HTTP/1.0, exactly one Host,
// no field twice that names or authorises a purchase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/request.hpp"

namespace doorbuster {

// Looks for the empty line that ends a head, resuming where it stopped when more bytes
// have come, so that a head that arrives byte by byte is still read only once.
class HeadScan {
public:
    struct Limits {
        size_t bytes_max, fields_max;
    };
    enum class Found : uint8_t { more_needed, complete, malformed, too_large };

    // `bytes` begins with the head and only grows from call to call.
    [[nodiscard]] Found scan(std::string_view bytes, const Limits& limits);

    size_t size() const { return searched_; }  // of the complete head, its empty line included
    void reset() { *this = {}; }

private:
    size_t searched_ = 0;
    size_t line_ = 0;   // where the current line begins
    size_t lines_ = 0;  // complete ones, the request line included
};

struct Head {
    Request request;  // without its body
    bool is_http10 = false;
    bool is_chunked = false;
    bool expects_continue = false;
    uint64_t content_length = 0;
};

// False if it is malformed. REQUIRES: `text` is a head that HeadScan found complete.
[[nodiscard]] bool parse_head(std::string_view text, Head& head);

}  // namespace doorbuster
