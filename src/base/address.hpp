// Address: where a request comes from, whatever the family.
//
// IPv4 is kept as the IPv6 address that maps it (::ffff:a.b.c.d), so that one client has one
// address whichever kind of socket it came through.
//
// Thread safety: values. Parsing allocates nothing.
#pragma once

#include <array>
#include <boost/endian/conversion.hpp>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doorbuster {

struct Address {
    using V4Bytes = std::array<uint8_t, 4>;
    using V6Bytes = std::array<uint8_t, 16>;

    V6Bytes bytes{};

    static Address v4(const V4Bytes& from);
    static Address v6(const V6Bytes& from) { return {from}; }

    // Strict: "1.2.3.4" or "2001:db8::1". No port, no zone, no leading zero, no blank.
    static std::optional<Address> parse(std::string_view text);

    bool is_v4() const;

    // What one client can be held to: a household has a whole /64 of IPv6 to rotate through.
    Address limit_key() const;

    std::string text() const;

    // As numbers, by halves: no call for what every look into a list does a dozen times.
    friend std::strong_ordering operator<=>(const Address& a, const Address& b) {
        const auto order = a.half(0) <=> b.half(0);
        return order != 0 ? order : a.half(1) <=> b.half(1);
    }
    friend bool operator==(const Address&, const Address&) = default;

private:
    uint64_t half(size_t which) const { return boost::endian::load_big_u64(bytes.data() + 8 * which); }
};

// Whether it lies inside somebody's own network, or is no single host's address at all: private,
// loopback, link-local, shared (CGNAT), unique-local, multicast, reserved, documentation, "this
// network", and what tunnels or translates to one of them. A URL that a stranger gave must not
// lead there.
bool is_private(const Address& address);

// AddressRange: a block of addresses of one family.
//
// Families are kept apart: "::/0" is all of IPv6 and none of IPv4, so that a list never says
// more than it seems to. A range written inside ::ffff:0:0/96 means the IPv4 addresses there.
struct AddressRange {
    Address first, last;  // both inside

    // "10.0.0.0/8", or a single address. Nothing if bits are set behind the prefix: whoever
    // wrote "10.1.2.3/8" meant something else.
    static std::optional<AddressRange> parse(std::string_view text);

    bool contains(const Address& address) const;

    // Of the 128; an IPv4 range has at least 96. The more, the more specific.
    unsigned prefix_bits() const;

    friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// AddressSet: is this address on the list? Lists of proxies, of the blocked, of the allowed.
//
// Thread safety: immutable; const calls from any thread, without allocation.
class AddressSet {
public:
    AddressSet() = default;

    // Ranges may overlap, nest and repeat.
    explicit AddressSet(const std::vector<AddressRange>& ranges);

    bool contains(const Address& address) const;  // O(log size)
    bool empty() const { return ranges_.empty(); }

private:
    std::vector<AddressRange> ranges_;  // sorted, disjoint; none holds addresses of both families
};

}  // namespace doorbuster
