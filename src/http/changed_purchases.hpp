// ChangedPurchases: what other threads tell one gate thread of purchases that have changed.
//
// The orders thread changes thousands at a time and must not wait for a gate that is busy; a
// gate must not be posted a task for each. So the ids gather here until the gate takes them,
// all at once. Beyond the bound they are dropped, and the gate is told to look at everything:
// a look at a purchase that has not changed costs a read, one that is left out costs a wait.
//
// Thread safety: put from any thread, take from one.
#pragma once

#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "sale/ids.hpp"

namespace doorbuster {

class ChangedPurchases {
public:
    static constexpr size_t ids_max = 65'536;  // a megabyte

    // True if nothing waited before: the taker has to be called.
    [[nodiscard]] bool put(std::span<const PurchaseId> ids) {
        std::lock_guard lock(mutex_);
        const bool was_empty = ids_.empty() && !overflowed_;
        if (ids_.size() + ids.size() > ids_max) {
            overflowed_ = true;
            ids_.clear();
        }
        if (!overflowed_) ids_.insert(ids_.end(), ids.begin(), ids.end());
        return was_empty && !ids.empty();
    }

    // False if there were too many: then any purchase may have changed.
    [[nodiscard]] bool take(std::vector<PurchaseId>& into) {
        into.clear();
        std::lock_guard lock(mutex_);
        into.swap(ids_);
        return !std::exchange(overflowed_, false);
    }

private:
    std::mutex mutex_;
    std::vector<PurchaseId> ids_;  // empty once overflowed
    bool overflowed_ = false;
};

}  // namespace doorbuster
