#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace doorbuster {
namespace {

// The place in a table of this many slots.
constexpr uint64_t slots = 1024;

std::vector<std::string> names_in_one_slot(uint64_t seed, size_t count) {
    std::map<uint64_t, std::vector<std::string>> by_slot;
    for (uint64_t number = 0;; ++number) {
        std::string name = "buyer-" + std::to_string(number);
        auto& names = by_slot[seeded_hash(name, seed) % slots];
        names.push_back(std::move(name));
        if (names.size() == count) return names;
    }
}

// Whoever could try out which names meet in one process has learned nothing about the next.
TEST(SeededHash, NamesThatMeetUnderOneSeedDoNotUnderAnother) {
    for (const uint64_t seed : {uint64_t{1}, uint64_t{2}, uint64_t{0x9e3779b97f4a7c15}, ~uint64_t{0}}) {
        const std::vector<std::string> twins = names_in_one_slot(seed, 64);
        for (const uint64_t other : {seed + 1, seed ^ 1 << 20, seed << 1, seed * 31}) {
            std::set<uint64_t> places;
            for (const std::string& name : twins) places.insert(seeded_hash(name, other) % slots);
            EXPECT_GE(places.size(), 48u)
                << seed << ' ' << other << ": about 62 where they know nothing of each other";
        }
    }
}

TEST(SeededHash, TheSeedOfAProcessIsDrawnOnce) {
    EXPECT_EQ(process_hash_seed(), process_hash_seed());
    EXPECT_NE(process_hash_seed(), 0u);
}

}  // namespace
}  // namespace doorbuster
