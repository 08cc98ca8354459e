// Requests: what buyers send, as bytes, all made beforehand.
//
// Every purchase is of a buyer of its own, with a signed token and an Idempotency-Key, so
// that sending is a copy of bytes and the generator can outrun the server. The same
// terms and names give the same bytes, whoever they are sent to.
//
// Thread safety: const calls from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace doorbuster::load {

struct RequestTerms {
    std::string host;  // as in the Host header
    std::string sale, item;
    std::string secret;  // that the shop signs its buyers' tokens with
    std::string buyers;  // how the buyers' names begin
    std::chrono::sys_seconds now;
};

// A page, asked for as a browser does.
struct PageRequest {
    std::string host, path, accept_encoding;
};

class Requests {
public:
    Requests(const RequestTerms& terms, size_t count);
    Requests(const PageRequest& page, size_t count);  // all alike

    size_t size() const { return ends_.size(); }
    std::string_view operator[](size_t at) const {
        const size_t begin = at == 0 ? 0 : ends_[at - 1];
        return std::string_view(bytes_).substr(begin, ends_[at] - begin);
    }

private:
    std::string bytes_;  // one behind the other
    std::vector<size_t> ends_;
};

// JWT, HS256, about 200 bytes: what a shop's sign-in hands out.
std::string buyer_token(std::string_view buyer, std::string_view secret, std::chrono::sys_seconds now);

}  // namespace doorbuster::load
