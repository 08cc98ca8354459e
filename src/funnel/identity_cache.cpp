#include "funnel/identity_cache.hpp"

#include <bit>

#include "base/check.hpp"

namespace doorbuster {

template <size_t token_bytes_max>
TokenTable<token_bytes_max>::TokenTable(size_t entries)
    : pairs_(entries / 2), index_(new Pair[pairs_]), entries_(new Entry[entries]) {
    CHECK(entries >= 2 && std::has_single_bit(entries));
}

template <size_t token_bytes_max>
const Who* TokenTable<token_bytes_max>::find(uint64_t hash, std::string_view token, uint64_t version) {
    const size_t at = hash & (pairs_ - 1);
    Pair& pair = index_[at];
    for (uint8_t place = 0; place < 2; ++place) {
        if (pair.hashes[place] != hash || pair.sizes[place] != token.size()) continue;
        // Equal hashes come first: whoever cannot make them learns nothing from the time that
        // comparing takes.
        const Entry& entry = entries_[2 * at + place];
        if (entry.version != version || std::memcmp(entry.token.data(), token.data(), token.size()) != 0)
            continue;
        pair.used_last = place;
        return &entry.who;
    }
    return nullptr;
}

template <size_t token_bytes_max>
void TokenTable<token_bytes_max>::put(uint64_t hash, std::string_view token, uint64_t version,
                                      const Who& who) {
    CHECK(token.size() <= bytes_max);
    const size_t at = hash & (pairs_ - 1);
    Pair& pair = index_[at];
    const uint8_t place = pair.used_last ^ 1;
    pair.hashes[place] = hash;
    pair.sizes[place] = static_cast<uint16_t>(token.size());
    pair.used_last = place;
    Entry& entry = entries_[2 * at + place];
    entry.version = version;
    entry.who = who;
    std::memcpy(entry.token.data(), token.data(), token.size());
}

template class TokenTable<IdentityCache::short_bytes_max>;
template class TokenTable<IdentityCache::long_bytes_max>;

template <class Table>
Result<Who, IdentityFault> IdentityCache::verify_in(Table& table, const Identity& identity,
                                                    std::string_view token, Instant now) {
    const uint64_t hash = hash_(token);
    if (const Who* known = table.find(hash, token, identity.version())) {
        if (const auto fault = identity.untimely(*known, now)) return *fault;
        return *known;
    }
    auto who = verify_first(identity, token, now);
    if (who) table.put(hash, token, identity.version(), *who);
    return who;
}

Result<Who, IdentityFault> IdentityCache::verify_first(const Identity& identity, std::string_view token,
                                                       Instant now) {
    ++verified_total_;
    return identity.verify(token, now);
}

Result<Who, IdentityFault> IdentityCache::verify(const Identity& identity, std::string_view token,
                                                 Instant now) {
    if (token.empty() || token.size() > long_bytes_max) return verify_first(identity, token, now);
    if (token.size() > short_bytes_max) return verify_in(long_, identity, token, now);
    return verify_in(short_, identity, token, now);
}

}  // namespace doorbuster
