// Entity tags: cheap repeats for readers, lost updates noticed for writers.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.hpp"
#include "http/route.hpp"

namespace doorbuster {

// A tag of the bytes themselves, so that two answers with one tag are alike.
inline std::string etag_of(std::string_view body) {
    const Digest digest = sha256(body);
    return fmt::format("\"{}\"", base64url({reinterpret_cast<const char*>(digest.data()), 12}));
}

inline std::string version_etag(uint64_t version) {
    return fmt::format("\"{}\"", version);
}

// If-None-Match compares weakly: W/ does not matter. `*` matches whatever there is.
inline bool none_match_hits(std::string_view if_none_match, std::string_view etag) {
    while (!if_none_match.empty()) {
        const size_t end = if_none_match.find(',');
        std::string_view tag = if_none_match.substr(0, end);
        while (!tag.empty() && (tag.front() == ' ' || tag.front() == '\t')) tag.remove_prefix(1);
        while (!tag.empty() && (tag.back() == ' ' || tag.back() == '\t')) tag.remove_suffix(1);
        if (tag.substr(0, 2) == "W/") tag.remove_prefix(2);
        if (tag == "*" || tag == etag) return true;
        if (end == std::string_view::npos) break;
        if_none_match.remove_prefix(end + 1);
    }
    return false;
}

// If-Match compares strongly: `"7"` and nothing looser.
inline std::optional<uint64_t> version_in(std::string_view if_match) {
    if (if_match.size() < 3 || if_match.front() != '"' || if_match.back() != '"') return std::nullopt;
    return parse_number<uint64_t>(if_match.substr(1, if_match.size() - 2));
}

}  // namespace doorbuster
