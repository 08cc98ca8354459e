// PurchaseEndpoints: the button.
//
// The funnel asks first, then the book decides. What a crowd or a flood hears is a copy of bytes; an answer
// is written only for who wins, and for who sends what cannot be a purchase and may still ask.
//
// Thread safety: its gate's thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/door.hpp"
#include "http/gate.hpp"
#include "http/replies.hpp"
#include "http/response.hpp"
#include "http/sales.hpp"

namespace doorbuster {

class PurchaseEndpoints {
public:
    PurchaseEndpoints(Services& services, Gate& gate, Replies& replies, Probe& probe, Door& door,
                      SalesEndpoints& sales, NegativeCache& not_found)
        : services_(services),
          gate_(gate),
          replies_(replies),
          probe_(probe),
          door_(door),
          sales_(sales),
          not_found_(not_found) {}

    // Nothing but whether there is such a sale: a page on another origin asks, so that its browser has
    // asked for leave (CORS) before the buyer presses.
    void give_leave(Exchange&, std::string_view sale);

    void submit(Exchange&, std::string_view sale);
    void decided(Exchange&, const PurchaseReply&);
    void show(Exchange&, std::string_view purchase);

private:
    void announce(PurchaseOutcome, const PurchaseReply&);
    void answer_accepted(Exchange&, const Book::ReserveAnswer&);
    std::string_view shown(Instant);

    Services& services_;
    Gate& gate_;
    Replies& replies_;
    Probe& probe_;
    Door& door_;
    SalesEndpoints& sales_;
    NegativeCache& not_found_;

    // What the book says with more than a code.
    const PreparedRefusal limit_reached_{
        {.code = Code::limit_reached, .purchase = std::string(PreparedRefusal::any_purchase)}};
    const PreparedRefusal key_mismatch_{
        {.code = Code::invalid,
         .faults = {{"/quantity", "this Idempotency-Key was used with another quantity"}}}};
    const PreparedRefusal unknown_{
        {.code = Code::unknown,
         .detail =
             "it may have been accepted: ask again with the same Idempotency-Key, or look the purchase up",
         .purchase = std::string(PreparedRefusal::any_purchase)}};

    // The last moment that was shown, and how.
    Instant shown_at_{};
    std::string shown_text_;
};

// 1 to 255 visible ASCII characters.
bool is_idempotency_key(std::string_view);

}  // namespace doorbuster
