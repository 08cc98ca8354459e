#include <algorithm>

#include "base/address.hpp"
#include "base/check.hpp"

namespace doorbuster {

namespace {

AddressSet set_of(std::initializer_list<std::string_view> ranges) {
    std::vector<AddressRange> parsed;
    for (const std::string_view text : ranges) {
        const auto range = AddressRange::parse(text);
        CHECK(range);
        parsed.push_back(*range);
    }
    return AddressSet(parsed);
}

// By the registries of special-purpose addresses (RFC 6890 and its successors).
const AddressSet& special_v4() {
    static const AddressSet set =
        set_of({"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
                "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
                "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"});
    return set;
}

// Of IPv6 only 2000::/3 is given out to hosts; inside it these are not: Teredo and its
// neighbours, documentation, and 6to4, which leads to an IPv4 address of the sender's choice.
const AddressSet& global_v6() {
    static const AddressSet set = set_of({"2000::/3"});
    return set;
}
const AddressSet& special_v6() {
    static const AddressSet set = set_of({"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"});
    return set;
}

// The well-known prefix of NAT64: the IPv4 address behind it is the one that is reached.
const AddressSet& translated() {
    static const AddressSet set = set_of({"64:ff9b::/96"});
    return set;
}

}  // namespace

bool is_private(const Address& address) {
    if (address.is_v4()) return special_v4().contains(address);
    if (translated().contains(address)) {
        Address::V4Bytes behind;
        std::copy_n(address.bytes.end() - behind.size(), behind.size(), behind.begin());
        return is_private(Address::v4(behind));
    }
    return !global_v6().contains(address) || special_v6().contains(address);
}

}  // namespace doorbuster
