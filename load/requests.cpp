#include "load/requests.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/crypto.hpp"

namespace doorbuster::load {

namespace {

constexpr std::chrono::hours token_lifetime{1};

// Without a common divisor, so that every name comes once.
constexpr size_t names_max = 100'000'000, names_step = 61'803'399;

}  // namespace

std::string buyer_token(std::string_view buyer, std::string_view secret, std::chrono::sys_seconds now) {
    const int64_t issued_s = now.time_since_epoch().count();
    const int64_t expires_s = (now + token_lifetime).time_since_epoch().count();
    std::string token = base64url(R"({"alg":"HS256","typ":"JWT"})");
    token += '.';
    token += base64url(fmt::format(R"({{"sub":"{}","name":"A buyer in the crowd","iat":{},"exp":{}}})", buyer,
                                   issued_s, expires_s));
    const Digest signature = hmac_sha256(secret, token);
    token += '.';
    token += base64url({reinterpret_cast<const char*>(signature.data()), signature.size()});
    return token;
}

Requests::Requests(const RequestTerms& terms, size_t count) {
    const std::string body = fmt::format(R"({{"item":"{}","quantity":1}})", terms.item);
    constexpr size_t request_bytes_expected = 640;
    bytes_.reserve(count * request_bytes_expected);
    ends_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        // Nobody arrives in the order of their names: neighbours in time are strangers in an index.
        const std::string buyer = fmt::format("{}-{:08}", terms.buyers, i * names_step % names_max);
        fmt::format_to(std::back_inserter(bytes_),
                       "POST /v1/sales/{}/purchases HTTP/1.1\r\n"
                       "Host: {}\r\n"
                       "User-Agent: doorbuster-load\r\n"
                       "Accept: application/json\r\n"
                       "Authorization: Bearer {}\r\n"
                       "Idempotency-Key: {}-key\r\n"
                       "Content-Type: application/json\r\n"
                       "Content-Length: {}\r\n\r\n{}",
                       terms.sale, terms.host, buyer_token(buyer, terms.secret, terms.now), buyer,
                       body.size(), body);
        ends_.push_back(bytes_.size());
    }
}

Requests::Requests(const PageRequest& page, size_t count) {
    const std::string request = fmt::format(
        "GET {} HTTP/1.1\r\n"
        "Host: {}\r\n"
        "User-Agent: doorbuster-load\r\n"
        "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
        "Accept-Language: en-GB,en;q=0.5\r\n"
        "Accept-Encoding: {}\r\n\r\n",
        page.path, page.host, page.accept_encoding);
    bytes_.reserve(count * request.size());
    ends_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        bytes_ += request;
        ends_.push_back(bytes_.size());
    }
}

}  // namespace doorbuster::load
