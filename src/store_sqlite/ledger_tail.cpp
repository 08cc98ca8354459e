#include "store_sqlite/ledger_tail.hpp"

#include <algorithm>

namespace doorbuster {

void LedgerTail::appended(std::span<const LedgerEntry> entries, uint64_t last) {
    if (entries.empty()) return;
    std::lock_guard lock(mutex_);
    const uint64_t first = last + 1 - entries.size();
    // Somebody has written into the file behind our back: it knows better.
    if (first != first_ + entries_.size()) {
        entries_.clear();
        first_ = first;
    }
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    if (entries_.size() <= records_max) return;
    const size_t surplus = entries_.size() - records_max;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(surplus));
    first_ += surplus;
}

std::optional<std::vector<LedgerRecord>> LedgerTail::read_after(uint64_t position, size_t count_max) {
    std::vector<LedgerRecord> records;
    size_t count = 0;
    {
        std::lock_guard lock(mutex_);
        if (first_ == 0 || position + 1 < first_) return std::nullopt;
        const size_t passed = std::min<uint64_t>(position + 1 - first_, entries_.size());
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(passed));
        first_ += passed;
        count = std::min(entries_.size(), count_max);
    }
    records.reserve(count);
    // In pieces: every purchase waits for whoever appends.
    constexpr size_t piece = 128;
    while (records.size() < count) {
        std::lock_guard lock(mutex_);
        const uint64_t next = position + 1 + records.size();
        if (next < first_) break;  // dropped meanwhile: they are read from the file
        const size_t from = next - first_;
        const size_t to = std::min({from + piece, from + count - records.size(), entries_.size()});
        if (from >= to) break;
        for (size_t i = from; i < to; ++i) records.push_back({.position = first_ + i, .entry = entries_[i]});
    }
    if (records.empty() && count > 0) return std::nullopt;
    return records;
}

}  // namespace doorbuster
