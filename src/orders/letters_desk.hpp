// LettersDesk: the operator's word on dead letters.
//
// A letter is a ledger record that could not become an order; its purchase was cancelled and
// its unit went back. Tried again, it asks the book for a unit once more under a fresh id, and
// what the book accepts goes the way of every purchase: the buried one then has its order.
// Dropped, its cancellation stands. Each ends one way or the other, and once.
//
// Thread safety: none; it lives on the orders thread.
#pragma once

#include <functional>
#include <set>

#include "base/clock.hpp"
#include "store/book_control.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class LettersDesk {
public:
    using Done = std::function<void(StoreResult<LetterState>)>;
    // Runs the task on this thread, later; never refuses it.
    using Post = std::function<void(std::function<void()>)>;

    LettersDesk(LedgerReader& ledger, Orders& orders, BookControl& books, Post post);

    // Repeating is safe. not_found; not_allowed: it was dropped, cannot be read, or the book
    // refused (detail says why; the letter stays open); unavailable: ask again.
    void retry(uint64_t position, Instant now, Done done);
    // Repeating is safe. not_found; not_allowed: it was retried; unavailable: it is being tried
    // again at this moment.
    [[nodiscard]] StoreResult<LetterState> drop(uint64_t position, Instant now);

private:
    StoreResult<LetterState> state_of(uint64_t position);
    StoreResult<LetterState> close(uint64_t position, LetterState as, Instant now);
    StoreResult<Reinstatement> what_to_ask(uint64_t position);

    LedgerReader& ledger_;
    Orders& orders_;
    BookControl& books_;
    const Post post_;
    std::set<uint64_t> trying_;  // asked the book, not answered yet; at most one per letter
};

}  // namespace doorbuster
