#include "funnel/negative_cache.hpp"

namespace doorbuster {

namespace {

constexpr uint64_t of_purchases = 1, of_orders = 2;

uint64_t key_of(uint64_t kind, std::string_view id, const BuyerId& buyer, uint64_t seed) {
    return fold(seeded_hash(id, seed ^ kind), seeded_hash(buyer.view(), seed) | 1);
}

}  // namespace

NegativeCache::Question NegativeCache::question(const PurchaseId& id, const BuyerId& buyer) const {
    const std::string_view bytes(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
    return {key_of(of_purchases, bytes, buyer, seed_), arrivals_.seen(id)};
}

NegativeCache::Question NegativeCache::question(OrderId id, const BuyerId& buyer) const {
    const std::string_view bytes(reinterpret_cast<const char*>(&id), sizeof id);
    return {key_of(of_orders, bytes, buyer, seed_), 0};
}

bool NegativeCache::is_missing(const Question& question, Uptime now) {
    const Entry& entry = entry_of(question.key);
    if (entry.key != question.key || entry.arrivals_seen != question.arrivals_seen) return false;
    if (now >= entry.until) return false;
    // One writer: no read-modify-write needed.
    hits_total_.store(hits_total_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return true;
}

void NegativeCache::remember(const Question& question, Uptime now) {
    entry_of(question.key) = {question.key, question.arrivals_seen, now + life};
}

}  // namespace doorbuster
