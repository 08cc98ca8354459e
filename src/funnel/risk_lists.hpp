// RiskLists: addresses and buyers that are always refused, or always trusted.
//
// Of several ranges that hold an address the narrowest counts: a company may be blocked and one
// of its offices allowed, or the other way round. Of two entries about the very same range or
// buyer the block counts.
//
// Thread safety: immutable; const calls from any thread, without allocation. A change is a new
// RiskLists, handed to every gate.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/address.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

enum class Standing : uint8_t { neutral, allowed, blocked };

// "block address 203.0.113.0/24", "allow buyer alice"
struct ListEntry {
    Standing standing = Standing::blocked;  // never neutral
    std::variant<AddressRange, BuyerId> who;

    // The three words apart; the error is a sentence.
    static Result<ListEntry, std::string> from(std::string_view list, std::string_view kind,
                                               std::string_view value);

    std::string_view list() const;  // "block", "allow"
    std::string_view kind() const;  // "address", "buyer"
    std::string value() const;      // one spelling per range: "203.0.113.7" for "203.0.113.7/32"
    std::string line() const;       // all three; the same for entries that say the same
};

class RiskLists {
public:
    static constexpr size_t entries_max = 100'000;

    RiskLists() = default;
    // REQUIRES: at most entries_max.
    explicit RiskLists(std::span<const ListEntry> entries);

    Standing of(const Address& address) const;  // O(log size)
    Standing of(const BuyerId& buyer) const;

private:
    struct Segment {
        Address first;  // up to the next segment's
        Standing standing;
    };
    struct Range {
        Address first, last;
        Standing standing;
    };

    static std::vector<Segment> flattened(std::vector<Range> ranges);

    std::vector<Segment> v4_, v6_;
    boost::unordered_flat_map<BuyerId, Standing, SeededHash> buyers_;
};

// A file of entries: one per line; blank lines and lines that begin with # are skipped. Every
// fault there is (the first 100 of them), each with its line.
using ListFaults = std::vector<std::string>;
Result<std::vector<ListEntry>, ListFaults> parse_lists(std::string_view text);

}  // namespace doorbuster
