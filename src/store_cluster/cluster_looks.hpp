// ClusterLooks: what this gate had seen of a book a while ago, and so what may be news to another gate.
//
// A gate shows "sold out" for `flags_last` after its look, to all who had not won by that look. A winner who
// repeats there must not hear it, so a yes that such a look may have missed is news, and is held back.
//
// A take found something to sell, so between it and the last reopening before it the book was never shut: a
// look that shows "sold out" without knowing its winner is older than that reopening. So a take is no news if
//   - there was no reopening, in this epoch: earlier ones ended with every lease on them; or
//   - a look of this gate, `news_max` ago or more, had seen the take, or all the reopenings that there are:
//     then the one before the take is at least that old, and every flag from before it is over.
// Ages are counted by this gate's own clock from when a look came back. Redis' clock, which may be set, says
// nothing here.
//
// Thread safety: none; the books' thread.
#pragma once

#include <deque>

#include "store_cluster/pg_lease_time.hpp"
#include "store_cluster/redis_codec.hpp"

namespace doorbuster {

// For so long a take behind a reopening holds its yes back.
constexpr milliseconds news_max{1000};
// Shorter, since two gates' clocks do not run at quite the same rate.
constexpr milliseconds flags_last = news_max * 3 / 4;

class ClusterLooks {
public:
    void saw(const BookPeek::There& book, pg::BootTime now) {
        if (book.epoch != epoch_) looks_.clear();
        epoch_ = book.epoch;
        // Only the newest of those that are old enough is ever asked.
        while (looks_.size() >= 2 && looks_[1].at + news_max <= now) looks_.pop_front();
        // Beyond the bound a look is not remembered: somebody waits a little longer than they had to.
        if (looks_.size() < looks_max) looks_.push_back({now, book.figures.sequence_last, book.reopenings});
    }

    bool is_news(const ReserveVerdict& taken, pg::BootTime now) const {
        if (taken.reopenings == 0) return false;
        if (taken.take.epoch != epoch_) return taken.take.epoch > epoch_;
        const Look* before = nullptr;
        for (const Look& look : looks_) {
            if (look.at + news_max <= now) before = &look;
        }
        return !before ||
               (before->sequence_last < taken.take.sequence && before->reopenings < taken.reopenings);
    }

private:
    struct Look {
        pg::BootTime at;
        uint64_t sequence_last, reopenings;
    };
    static constexpr size_t looks_max = 16;  // a gate looks five times a second

    uint64_t epoch_ = 0;
    std::deque<Look> looks_;  // of that epoch, the oldest first; bound: looks_max
};

}  // namespace doorbuster
