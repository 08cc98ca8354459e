// Admission: what a gate thread can say about a purchase without asking the book.
//
// Ids that were perhaps accepted always pass: a winner who repeats must never hear
// `ended` or `sold_out`. A winner who comes with another key passes the stock's flags, to
// hear `limit_reached` and which purchase it is. The book decides finally; this only
// spares it the crowd.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

enum class Admission : uint8_t { pass, not_open, ended, paused, sold_out, sold_out_for_now };

// By the sale's recorded state and the server's clock. The end is the book's to tell until
// the sale is recorded as closed: an acceptance may still be on its way to the disk, and its
// buyer, who repeats, must not hear `ended`.
inline Admission window_of(const ListedSale& listed, Instant now) {
    const Phase phase = phase_in(listed.state);
    if (phase == Phase::not_ready) return Admission::not_open;
    if (phase == Phase::closed) return Admission::ended;
    if (now < listed.sale.opens_at) return Admission::not_open;
    if (now >= listed.sale.closes_at) return Admission::pass;
    if (phase == Phase::paused) return Admission::paused;
    return Admission::pass;
}

// By the board's flags: no unit left, or no room for another order.
inline Admission stock_of(const ListedItem& item, const BuyerId& buyer) {
    const bool is_sold_out = item.board->sold_out();
    if (!is_sold_out && !item.board->orders_full()) return Admission::pass;
    if (item.board->perhaps_winner(buyer)) return Admission::pass;
    return is_sold_out ? Admission::sold_out : Admission::sold_out_for_now;
}

// Of a purchase whose id is known not to have been accepted, or not known yet.
inline Admission admit_stranger(const ListedSale& listed, const ListedItem& item, const BuyerId& buyer,
                                Instant now) {
    if (const Admission window = window_of(listed, now); window != Admission::pass) return window;
    return stock_of(item, buyer);
}

inline Admission admit(const ListedSale& listed, const ListedItem& item, const PurchaseId& id,
                       const BuyerId& buyer, Instant now) {
    if (item.board->perhaps_accepted(id)) return Admission::pass;
    return admit_stranger(listed, item, buyer, now);
}

}  // namespace doorbuster
