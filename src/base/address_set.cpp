#include "base/address.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace doorbuster {
namespace {

constexpr unsigned bits_v6 = 128;
constexpr unsigned bits_before_v4 = 96;

// The prefix kept, every bit behind it set to `fill`.
Address filled(const Address& address, unsigned prefix_bits, bool fill) {
    Address result = address;
    for (unsigned i = 0; i < result.bytes.size(); ++i) {
        const unsigned kept = std::clamp(static_cast<int>(prefix_bits) - static_cast<int>(8 * i), 0, 8);
        const auto behind = static_cast<uint8_t>(0xff >> kept);
        result.bytes[i] = static_cast<uint8_t>(fill ? result.bytes[i] | behind : result.bytes[i] & ~behind);
    }
    return result;
}

Address before(Address address) {
    for (size_t i = address.bytes.size(); i-- > 0;) {
        if (address.bytes[i]-- != 0) break;
    }
    return address;
}

Address after(Address address) {
    for (size_t i = address.bytes.size(); i-- > 0;) {
        if (++address.bytes[i] != 0) break;
    }
    return address;
}

std::optional<unsigned> prefix_bits_from(std::string_view digits, unsigned bits_max) {
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error != std::errc{} || end != digits.data() + digits.size() || bits > bits_max) return std::nullopt;
    return bits;
}

}  // namespace

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
    const size_t slash = text.find('/');
    const auto address = Address::parse(text.substr(0, slash));
    if (!address) return std::nullopt;
    if (slash == std::string_view::npos) return AddressRange{*address, *address};

    const bool is_written_as_v4 = text.find(':') == std::string_view::npos;
    const unsigned bits_outside = is_written_as_v4 ? bits_before_v4 : 0;
    const auto bits = prefix_bits_from(text.substr(slash + 1), bits_v6 - bits_outside);
    if (!bits) return std::nullopt;
    const unsigned prefix_bits = bits_outside + *bits;
    if (filled(*address, prefix_bits, false) != *address) return std::nullopt;
    return AddressRange{*address, filled(*address, prefix_bits, true)};
}

bool AddressRange::contains(const Address& address) const {
    if (address < first || last < address) return false;
    return !address.is_v4() || first.is_v4();
}

unsigned AddressRange::prefix_bits() const {
    unsigned bits = 0;
    for (size_t i = 0; i < first.bytes.size(); ++i) {
        const auto differing = static_cast<uint8_t>(first.bytes[i] ^ last.bytes[i]);
        bits += static_cast<unsigned>(std::countl_zero(differing));
        if (differing != 0) break;
    }
    return bits;
}

AddressSet::AddressSet(const std::vector<AddressRange>& ranges) {
    const Address v4_first = Address::v4({0, 0, 0, 0}), v4_last = Address::v4({255, 255, 255, 255});
    std::vector<AddressRange> sorted;
    for (const AddressRange& range : ranges) {
        if (range.first.is_v4() || range.last < v4_first || v4_last < range.first) {
            sorted.push_back(range);
            continue;
        }
        // An IPv6 range around the mapped addresses: what lies before them and behind them.
        if (range.first < v4_first) sorted.push_back({range.first, before(v4_first)});
        if (v4_last < range.last) sorted.push_back({after(v4_last), range.last});
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.first < b.first; });
    for (const AddressRange& range : sorted) {
        if (!ranges_.empty() && !(ranges_.back().last < range.first)) {
            ranges_.back().last = std::max(ranges_.back().last, range.last);
        } else {
            ranges_.push_back(range);
        }
    }
}

bool AddressSet::contains(const Address& address) const {
    const auto behind = std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](const Address& wanted, const AddressRange& range) { return wanted < range.first; });
    return behind != ranges_.begin() && !(std::prev(behind)->last < address);
}

}  // namespace doorbuster
