// OrderWorker: turns ledger records into orders, in batches, exactly once.
//
// The position in the ledger moves in the same transaction as the orders, so a crash
// repeats nothing and skips nothing. A record that cannot be placed is tried again
// after 1, 2 and 3 seconds, then becomes a dead letter and an explicit cancellation.
// A store that cannot do anything is not the record's fault: that is tried again
// after the same waits and then reported; nothing is cancelled for it.
//
// Steppable: no thread, no clock of its own.
// Thread safety: none, but for the figures.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/snowflake.hpp"
#include "orders/tally.hpp"
#include "store/book_control.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

// What the workers of this process have done since it started.
struct OrderFigures {
    uint64_t ordered = 0, cancelled = 0, dead_letters = 0;
    uint64_t position = 0;  // in the ledger; where it has several parts, of all of them together
    uint64_t behind = 0;    // accepted, and not placed yet
};

class OrderWorker {
public:
    struct Options {
        size_t batch_max = 32'768;
        size_t rush_min = 64;  // whoever finds so many at once is in a rush, and more are to come
        uint32_t rate_per_second_max = 5000;
        uint32_t rate_per_second_in_rush = 5000;  // while the ledger grows; never above the other
        std::array<std::chrono::milliseconds, 3> retry_after{std::chrono::seconds(1), std::chrono::seconds(2),
                                                             std::chrono::seconds(3)};
    };

    struct Hooks {
        OrderTally* tally = nullptr;
        // Purchases whose view changed, after the commit. May be empty.
        std::function<void(std::span<const PurchaseId>)> changed{};
    };

    OrderWorker(LedgerReader& ledger, Orders& orders, BookControl& books, Snowflake& ids,
                const Options& options, Hooks hooks);
    OrderWorker(LedgerReader& ledger, Orders& orders, BookControl& books, Snowflake& ids,
                const Options& options)
        : OrderWorker(ledger, orders, books, ids, options, Hooks{}) {}

    // Where to go on; before the first step.
    [[nodiscard]] StoreResult<void> load();

    enum class Next : uint8_t {
        more,      // there may be more to do at once
        idle,      // the ledger is used up: wake it when something was appended
        at_later,  // wait until wait_until()
    };
    // Moves at most one batch. `now` goes into the rows, `uptime` decides about waits and the
    // rate. An error is final: the store failed beyond the retries.
    [[nodiscard]] StoreResult<Next> step(Instant now, Uptime uptime);
    Uptime wait_until() const { return wait_until_; }

    // Purchases come in, and the machine is theirs first: for a moment, orders go at the pace of a rush.
    void ledger_grew(Uptime uptime) { grew_at_ = uptime; }

    // From here on without the rate cap: the process wants to end. Only what a failure waits for is waited
    // for.
    void hurry() {
        hurries_ = true;
        if (failures_ == 0) wait_until_ = {};
    }

    // Any thread.
    uint64_t position() const { return position_.load(std::memory_order_relaxed); }
    uint64_t ordered() const { return ordered_.load(std::memory_order_relaxed); }
    uint64_t cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
    uint64_t dead_letters() const { return dead_letters_.load(std::memory_order_relaxed); }

private:
    StoreResult<Next> wait_and_retry(const StoreError& error, Instant now, Uptime uptime);
    void tell(std::span<const Placed> placed);
    void give_back(const LedgerEntry& entry);
    bool is_in_rush(Uptime uptime) const;
    size_t allowance(size_t size, uint32_t rate, Uptime uptime);

    LedgerReader& ledger_;
    Orders& orders_;
    BookControl& books_;
    Snowflake& ids_;
    const Options options_;
    const Hooks hooks_;

    std::vector<Placement> batch_;  // read, not placed yet; at most batch_max
    size_t failures_ = 0;           // of the record or the store, since the last success
    size_t one_by_one_left_ = 0;    // of a batch that has a record in it that cannot be placed
    bool hurries_ = false;
    Uptime wait_until_{};
    std::optional<Uptime> grew_at_;
    double tokens_ = 0;  // of the rate cap
    Uptime tokens_at_{};

    std::atomic<uint64_t> position_{0}, ordered_{0}, cancelled_{0}, dead_letters_{0};
};

}  // namespace doorbuster
