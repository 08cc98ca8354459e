// PurchaseEndpoints: the button.
//
// Stages in the order of their cost; a refusal is a copy of bytes and allocates
// nothing. Window and sold-out flag let ids through that were perhaps accepted: a
// winner who repeats must never hear `ended` or `sold_out`. The book decides finally.
//
// Thread safety: its gate's thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "http/gate.hpp"
#include "http/replies.hpp"
#include "http/sales.hpp"

namespace doorbuster {

class PurchaseEndpoints {
public:
    PurchaseEndpoints(Services& services, Gate& gate, Replies& replies, Probe& probe, SalesEndpoints& sales)
        : services_(services), gate_(gate), replies_(replies), probe_(probe), sales_(sales) {}

    void submit(Exchange&, std::string_view sale);
    void decided(Exchange&, const PurchaseReply&);
    void show(Exchange&, std::string_view purchase);

private:
    // Random bytes, fetched for many ids at a time.
    class FreshIds {
    public:
        PurchaseId next();

    private:
        std::array<uint8_t, 16 * 256> bytes_;
        size_t used_ = 16 * 256;
    };

    void refuse(Exchange&, Stage, Code);
    void refuse(Exchange&, Stage, const Problem&);
    void answer_accepted(Exchange&, const Book::ReserveAnswer&);

    Services& services_;
    Gate& gate_;
    Replies& replies_;
    Probe& probe_;
    SalesEndpoints& sales_;
    FreshIds fresh_ids_;
};

// 1 to 255 visible ASCII characters.
bool is_idempotency_key(std::string_view);

}  // namespace doorbuster
