// Seeded hashing of ids, so that nobody outside can choose keys that collide.
//
// The seed is drawn once per process. It decides where a table keeps an entry, and nothing that is stored
// depends on it. What is answered does in one case, which nobody outside can bring about: JsonNames takes two
// names of one hash for one, and their text is refused.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/id128.hpp"
#include "base/text.hpp"

namespace doorbuster {

uint64_t process_hash_seed();

// 128-bit multiply-and-fold, after wyhash.
inline uint64_t fold(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t seeded_hash(std::string_view bytes, uint64_t seed) {
    constexpr uint64_t odd1 = 0xa0761d6478bd642f, odd2 = 0xe7037ed1a0b428db;
    uint64_t state = seed ^ odd1 ^ bytes.size();
    const char* at = bytes.data();
    size_t left = bytes.size();
    // Whole words, which overlap where the end needs it: a part of one would be copied byte by byte.
    auto word = [](const char* from) {
        uint64_t value;
        std::memcpy(&value, from, sizeof value);
        return value;
    };
    auto half_word = [](const char* from) -> uint64_t {
        uint32_t value;
        std::memcpy(&value, from, sizeof value);
        return value;
    };
    auto byte = [](char c) -> uint64_t { return static_cast<unsigned char>(c); };
    for (; left > 16; at += 16, left -= 16) {
        state = fold(word(at) ^ odd2 ^ seed, word(at + 8) ^ state);
    }
    uint64_t low = 0, high = 0;
    if (left >= 8) {
        low = word(at);
        high = word(at + left - 8);
    } else if (left >= 4) {
        low = half_word(at);
        high = half_word(at + left - 4);
    } else if (left > 0) {
        low = byte(at[0]) << 16 | byte(at[left / 2]) << 8 | byte(at[left - 1]);
    }
    return fold(fold(low ^ odd2 ^ seed, high ^ state), odd1 ^ seed);
}

struct SeededHash {
    using is_avalanching = void;
    uint64_t seed = process_hash_seed();

    template <class Tag>
    size_t operator()(const Id128<Tag>& id) const {
        return seeded_hash({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}, seed);
    }
    template <class Tag, size_t N>
    size_t operator()(const TextId<Tag, N>& id) const {
        return seeded_hash(id.view(), seed);
    }
    size_t operator()(std::string_view text) const { return seeded_hash(text, seed); }
};

}  // namespace doorbuster
