// IdentityCache: a buyer's token is verified once per gate thread; a repeat costs a look-up.
//
// Bounded: `entries` tokens, two places for each hash; in a full pair the one not used last
// gives way. Long tokens, such as those of the large identity providers, have a smaller table
// of their own; beyond its room they are verified each time. Only accepted tokens are kept: a
// flood of forged ones evicts nobody.
//
// Found means equal byte for byte: the hash says where to look, never who it is. What is
// found counts only while the token is in its time and the identity that judged it, its keys
// and its rules, is still the one that asks.
//
// Thread safety: none; a cache belongs to one gate thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "funnel/identity.hpp"

namespace doorbuster {

// The table of the cache, by a hash that the caller computes.
template <size_t token_bytes_max>
class TokenTable {
public:
    static constexpr size_t bytes_max = token_bytes_max;

    // REQUIRES: `entries` is a power of two and at least 2.
    explicit TokenTable(size_t entries);

    // Null if this token was not put, or was put under another version.
    [[nodiscard]] const Who* find(uint64_t hash, std::string_view token, uint64_t version);

    // REQUIRES: token.size() <= bytes_max.
    void put(uint64_t hash, std::string_view token, uint64_t version, const Who& who);

private:
    struct Entry {
        uint64_t version;
        Who who;
        std::array<char, bytes_max> token;
    };
    // What a look-up reads first, apart from the entries: a stranger's token touches nothing else.
    struct Pair {
        std::array<uint64_t, 2> hashes{};
        std::array<uint16_t, 2> sizes{};  // 0: free
        uint8_t used_last = 0;
    };

    const size_t pairs_;
    const std::unique_ptr<Pair[]> index_;
    const std::unique_ptr<Entry[]> entries_;
};

class IdentityCache {
public:
    static constexpr size_t entries_default = 4096;
    static constexpr size_t short_bytes_max = 512, long_bytes_max = 2048;

    explicit IdentityCache(size_t entries = entries_default)
        : short_(entries), long_(std::max<size_t>(2, entries / 4)) {}

    [[nodiscard]] Result<Who, IdentityFault> verify(const Identity& identity, std::string_view token,
                                                    Instant now);

    uint64_t verified_total() const { return verified_total_; }  // no repeats, or none that were known

private:
    [[nodiscard]] Result<Who, IdentityFault> verify_first(const Identity& identity, std::string_view token,
                                                          Instant now);
    template <class Table>
    [[nodiscard]] Result<Who, IdentityFault> verify_in(Table& table, const Identity& identity,
                                                       std::string_view token, Instant now);

    const SeededHash hash_;
    TokenTable<short_bytes_max> short_;
    TokenTable<long_bytes_max> long_;
    uint64_t verified_total_ = 0;
};

}  // namespace doorbuster
