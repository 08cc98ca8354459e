// LedgerTail: the newest records of the ledger, in memory, for the one who makes orders of them.
//
// The worker wants what was appended a moment ago, and reading it back was a tenth of an order's cost.
// Whoever is further behind than this goes, or has just started, reads the file.
//
// Bound: records_max; the oldest give way. What the worker is past goes as soon as it asks for more.
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/deque.hpp>

#include "store/ledger.hpp"

namespace doorbuster {

class LedgerTail {
public:
    static constexpr size_t records_max = 65'536;  // some twenty megabytes

    // They are durable, and the last of them stands at `last`, the others right before it.
    void appended(std::span<const LedgerEntry>, uint64_t last);

    // Records behind `position`, in order, at most `count_max`. Nothing: it does not go back so far, or no
    // more, because somebody asked from further on.
    [[nodiscard]] std::optional<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max);

private:
    std::mutex mutex_;
    // Guarded by the mutex. The entries stand at first_, first_ + 1, …; 0: nothing was appended yet.
    uint64_t first_ = 0;
    boost::container::deque<LedgerEntry, void,
                            boost::container::deque_options<boost::container::block_size<256>>::type>
        entries_;
};

}  // namespace doorbuster
