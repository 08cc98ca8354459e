#include "base/address.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace doorbuster {
namespace {

constexpr std::array<uint8_t, 12> mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t limit_bytes_v6 = 8;  // a /64

// By hand, because a proxy makes this a part of every request.
std::optional<uint32_t> parse_v4(std::string_view text) {
    uint32_t parsed = 0;
    size_t at = 0;
    for (size_t i = 0; i < 4; ++i) {
        if (i > 0 && (at == text.size() || text[at++] != '.')) return std::nullopt;
        const size_t first = at;
        unsigned value = 0;
        for (; at < text.size() && at < first + 3 && text[at] >= '0' && text[at] <= '9'; ++at) {
            value = value * 10 + static_cast<unsigned>(text[at] - '0');
        }
        const bool has_leading_zero = at > first + 1 && text[first] == '0';
        if (at == first || value > 255 || has_leading_zero) return std::nullopt;
        parsed = parsed << 8 | value;
    }
    if (at != text.size()) return std::nullopt;
    return parsed;
}

// In halves, as it is compared: what was written in parts would have to be waited for.
Address mapped(uint32_t v4) {
    Address address;
    boost::endian::store_big_u64(address.bytes.data() + 8, uint64_t{0xffff} << 32 | v4);
    return address;
}

}  // namespace

Address Address::v4(const V4Bytes& from) {
    return mapped(boost::endian::load_big_u32(from.data()));
}

std::optional<Address> Address::parse(std::string_view text) {
    if (text.find(':') == std::string_view::npos) {
        const auto parsed = parse_v4(text);
        return parsed ? std::optional(mapped(*parsed)) : std::nullopt;
    }
    // inet_pton wants an end mark; a NUL inside would let it read less than was sent.
    std::array<char, INET6_ADDRSTRLEN> copy;
    if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
    *std::copy(text.begin(), text.end(), copy.begin()) = '\0';
    Address parsed;
    if (::inet_pton(AF_INET6, copy.data(), parsed.bytes.data()) != 1) return std::nullopt;
    return parsed;
}

bool Address::is_v4() const {
    return std::equal(mapped_prefix.begin(), mapped_prefix.end(), bytes.begin());
}

Address Address::limit_key() const {
    if (is_v4()) return *this;
    Address key;
    std::copy_n(bytes.begin(), limit_bytes_v6, key.bytes.begin());
    return key;
}

std::string Address::text() const {
    std::array<char, INET6_ADDRSTRLEN> buffer;
    if (is_v4())
        return ::inet_ntop(AF_INET, bytes.data() + mapped_prefix.size(), buffer.data(), buffer.size());
    return ::inet_ntop(AF_INET6, bytes.data(), buffer.data(), buffer.size());
}

}  // namespace doorbuster
