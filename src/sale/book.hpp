// Book: who holds which unit of one item. The only place that decides.
//
// Deterministic: a command goes in, an outcome comes out; time arrives inside
// the command, so the same commands always build the same book.
//
// What an acceptance does is the stock policy's:
//   reserve      available -> held; payment makes it sold
//   at_order     available -> sold
//   at_payment   no unit moves: the purchase is open and takes a slot; payment frees the
//                slot and takes available -> sold
//
// Thread safety: none; a book belongs to one owner thread.
// Invariants:
//   1. units_available + units_held + units_sold == units_total, each >= 0
//   2. a purchase id is taken at most once; once finished it is never active again
//   3. a buyer's active units are the sum over that buyer's active purchases (held, sold
//      and open alike), and a reservation never lifts them above units_per_buyer_max
//   4. sequence numbers are dense: acceptance n carries n, beginning at 1
//   5. slots_used is the sum of units over open purchases; a reservation never lifts it
//      above orders_max. Open purchases exist under at_payment only, held ones under
//      reserve only
#pragma once

#include <boost/container/deque.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "sale/ids.hpp"
#include "sale/stock_policy.hpp"

namespace doorbuster {

// What the operator's word and the warm-up say about selling. The window is separate.
enum class Phase : uint8_t {
    not_ready,  // draft, scheduled, warming: nobody buys, whatever the clock says
    selling,    // ready, open, sold_out: sells inside the window
    paused,
    closed,
};

enum class ReserveOutcome : uint8_t {  // persisted in traces: append, never renumber
    accepted = 0,
    repeated = 1,
    sold_out = 2,
    limit_reached = 3,
    not_open = 4,
    ended = 5,
    paused = 6,
    key_mismatch = 7,      // a known id with another quantity or from another buyer
    sold_out_for_now = 8,  // at_payment: units are there, but as many orders as may be are open
};

struct Stock {
    uint32_t units_total = 0, units_available = 0, units_held = 0, units_sold = 0;
    friend bool operator==(const Stock&, const Stock&) = default;
};

// What the book accepted: the payload of a ledger record.
struct Acceptance {
    PurchaseId purchase;
    BuyerId buyer;
    uint32_t units = 0;
    uint64_t sequence = 0;
    Instant accepted_at{};
    friend bool operator==(const Acceptance&, const Acceptance&) = default;
};

enum class HoldState : uint8_t {  // persisted in traces: append, never renumber
    held = 0,
    sold = 1,
    finished = 2,
    open = 3,  // holds no unit, only a slot
};

class Book {
public:
    struct Terms {
        uint32_t units_per_buyer_max;
        Instant opens_at, closes_at;
        StockPolicy policy = StockPolicy::reserve;
        uint32_t orders_max = 0;  // at_payment only; 0: twice the units, restocks included
    };

    struct ReserveCommand {
        PurchaseId purchase;
        BuyerId buyer;
        uint32_t units;
        Instant now;
        // A payment that came late, or a dead letter that is tried again: its time was when it
        // was first accepted, so neither window nor phase is asked. Limit and stock are.
        bool window_exempt = false;
    };

    struct ReserveAnswer {
        ReserveOutcome outcome;
        // accepted, repeated: this purchase. limit_reached: the buyer's purchase that
        // holds the right, if there is one.
        PurchaseId purchase{};
        uint64_t sequence = 0;
        Instant accepted_at{};
        HoldState state = HoldState::held;
    };

    Book(const Terms&, const Stock&, Phase, uint64_t sequence_last = 0);
    Book(const Book&) = delete;
    Book& operator=(const Book&) = delete;

    // Takes units for the buyer. Repeating a purchase id is safe.
    // REQUIRES: units >= 1; commands arrive in non-decreasing `now`.
    [[nodiscard]] ReserveAnswer reserve(const ReserveCommand&);

    // Gives a purchase's units, or its slot, and its buyer's right back. False if that was
    // done before or the purchase is unknown: nothing is ever returned twice.
    bool release(const PurchaseId&);

    // The purchase is paid: held -> sold, open -> sold; what is sold stays so. False if it is
    // finished or unknown, or open with no unit left for it: then nothing has changed.
    [[nodiscard]] bool sell(const PurchaseId&);

    void restock(uint32_t units);
    // Figures that the book was made with may have been wrong: they follow from its purchases
    // and the total once more. Where those are more than the total it stays as it is.
    void recount();
    // REQUIRES: the policy stays what it was once anything was accepted.
    void set_terms(const Terms& terms);
    void set_phase(Phase phase) { phase_ = phase; }

    // Rebuilding, before the first command. A restored purchase is already counted in
    // the Stock that the book was made with; an applied one is a ledger record behind
    // it, a fact that is not decided again. apply answers false if the record cannot
    // be: its id is known or the units that it takes are not there.
    void restore(const Acceptance&, HoldState);
    [[nodiscard]] bool apply(const Acceptance&);

    const Stock& stock() const { return stock_; }
    uint32_t slots_used() const { return slots_used_; }
    // Nobody can open another order, whatever the quantity.
    bool orders_full() const {
        return terms_.policy == StockPolicy::at_payment && slots_used_ >= orders_max();
    }
    uint64_t sequence_last() const { return sequence_last_; }
    Instant last_command_at() const { return last_command_at_; }
    // When an acceptance last took a unit; none where it is the payment that does.
    std::optional<Instant> last_taken_at() const { return last_taken_at_; }
    uint32_t buyer_units(const BuyerId&) const;

private:
    // Where a hold stands among all, or no_hold.
    enum class HoldIndex : uint32_t {};
    static constexpr HoldIndex no_hold{UINT32_MAX};

    struct Hold {
        PurchaseId purchase;
        BuyerId buyer;
        HoldState state;
        uint32_t units;
        HoldIndex earlier;  // the same buyer's next older active one
        uint64_t sequence;
        Instant accepted_at;
    };
    // The newest active hold of a buyer, and through it all of them; found by the buyer's name, which is the
    // hold's. Bound of a chain: units_per_buyer_max.
    struct Buyer {
        size_t hash;
        mutable HoldIndex newest;
    };
    struct BuyerName {
        size_t hash;
        const BuyerId& name;
    };
    struct BuyerHash {
        using is_transparent = void;
        using is_avalanching = void;
        size_t operator()(const Buyer& one) const { return one.hash; }
        size_t operator()(const BuyerName& one) const { return one.hash; }
    };
    struct SameBuyer {
        using is_transparent = void;
        const Book* book;
        bool operator()(const Buyer& a, const Buyer& b) const { return a.newest == b.newest; }
        bool operator()(const BuyerName& a, const Buyer& b) const {
            return a.name == book->at(b.newest).buyer;
        }
        bool operator()(const Buyer& a, const BuyerName& b) const { return (*this)(b, a); }
    };
    using Buyers = boost::unordered_flat_set<Buyer, BuyerHash, SameBuyer>;

    const Hold& at(HoldIndex index) const { return holds_[static_cast<size_t>(index)]; }
    Hold& at(HoldIndex index) { return holds_[static_cast<size_t>(index)]; }
    Hold* find(const PurchaseId&);
    BuyerName named(const BuyerId&) const;
    void add(const Acceptance&, HoldState);
    uint32_t active_units(const Buyer&) const;
    void take_right(HoldIndex);
    HoldState take(const Acceptance&);
    uint32_t orders_max() const;
    void check_stock() const;

    Terms terms_;
    Phase phase_;

    // Changed only by commands.
    Stock stock_;
    uint32_t slots_used_ = 0;
    uint64_t sequence_last_;
    Instant last_command_at_{};
    std::optional<Instant> last_taken_at_;

    // One per acceptance, in that order, until reconciled: a rush writes them one behind the other, and the
    // two tables that find them stay small.
    boost::container::deque<Hold, void,
                            boost::container::deque_options<boost::container::block_size<1024>>::type>
        holds_;
    boost::unordered_flat_map<PurchaseId, HoldIndex, SeededHash> by_purchase_;
    Buyers buyers_{0, BuyerHash{}, SameBuyer{this}};  // one per buyer with active units
};

}  // namespace doorbuster
