#include "funnel/distinct_buyers.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace doorbuster {
namespace {

using std::chrono::seconds;

uint64_t seconds_of(Uptime at) {
    return static_cast<uint64_t>(std::max<int64_t>(std::chrono::floor<seconds>(at).count(), 0));
}

constexpr uint64_t block_step = 0x8bb84b93962eacc9;  // odd; where a key's next blocks lie

}  // namespace

DistinctBuyers::DistinctBuyers(size_t keys_max, Uptime kept)
    : rules_{seconds_of(kept)}, table_(rules_, {keys_max, places_per_block}) {}

Decision DistinctBuyers::enter(uint64_t key, uint64_t buyer, uint32_t buyers_max, Uptime now) {
    const uint64_t now_s = seconds_of(now);
    const auto mark = static_cast<uint32_t>(buyer >> 32);
    const uint32_t places = std::min(buyers_max, places_max);
    Decision refused = Decision::refuse(seconds(rules_.kept_s));
    for (uint32_t first = 0; first < places; first += places_per_block) {
        const uint64_t block_key = first == 0 ? key : fold(key, block_step + first);
        const uint32_t in_block = std::min(places - first, places_per_block);
        const Decision decision = table_.at(
            block_key, now_s, [&](Table::Cells cells) { return enter_block(cells, mark, in_block, now_s); });
        if (decision.passes) return decision;
        refused.retry_after = std::min(refused.retry_after, decision.retry_after);
    }
    return refused;
}

Decision DistinctBuyers::enter_block(Table::Cells places, uint32_t buyer, uint32_t buyers_max,
                                     uint64_t now_s) const {
    const uint64_t mine = PlaceRules::place(buyer, now_s);
    for (;;) {
        size_t free = places.size();
        uint64_t free_word = 0, soonest_s = UINT64_MAX;
        uint32_t remaining = 0;
        for (size_t i = 0; i < places.size(); ++i) {
            uint64_t place = places[i].load();
            const uint64_t free_at_s = rules_.free_at_s(place);
            if (free_at_s > now_s && PlaceRules::buyer_of(place) == buyer) {
                // Once a second. If this fails, another thread of the buyer has just done it, or
                // somebody whose clock is ahead found the place free.
                if (PlaceRules::seen_s_of(place) < now_s) places[i].compare_exchange_strong(place, mine);
                if (PlaceRules::buyer_of(place) == buyer) return {};
            }
            if (i < buyers_max) {
                soonest_s = std::min(soonest_s, free_at_s);
                if (free_at_s <= now_s && remaining++ == 0) {
                    free = i;
                    free_word = place;
                }
            }
        }
        if (free == places.size()) return Decision::refuse(seconds(soonest_s - now_s));
        if (places[free].compare_exchange_strong(free_word, mine)) return Decision::pass(remaining - 1);
    }
}

}  // namespace doorbuster
