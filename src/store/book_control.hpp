// BookControl: how the orders side reaches the books.
//
// Releases, payments, restocks and the operator's words travel to the owner thread in
// queue room of their own: a rush of purchases cannot keep a unit from coming back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "sale/board.hpp"
#include "sale/catalogue.hpp"
#include "sale/sale.hpp"
#include "store/ledger.hpp"

namespace doorbuster {

struct OpenBook {  // makes the book of an item
    ItemSlot slot;
    SaleId sale;
    ItemId item;
    Book::Terms terms;
    Stock stock;
    Phase phase;
    std::shared_ptr<ItemBoard> board;
    uint64_t version = 0;  // of the sale's row, for books that hear several voices
};
struct CloseBook {  // nobody can buy the item any more; what still asks for it hears not_open
    ItemSlot slot;
};
struct ReleasePurchase {
    SaleId sale;
    ItemId item;
    PurchaseId purchase;
};
struct SellPurchase {  // it is paid
    SaleId sale;
    ItemId item;
    PurchaseId purchase;
};
struct RestockItem {
    ItemSlot slot;
    uint32_t units;
};
struct TakeRecord {  // a ledger record that became an order only now: its units are taken, if they are not
    LedgerEntry entry;
    bool is_paid;
};
struct RecountBook {  // its stock row was repaired: the figures follow from the purchases once more
    SaleId sale;
    ItemId item;
};
struct SetTerms {
    ItemSlot slot;
    Book::Terms terms;
    Phase phase;
    uint64_t version = 0;  // as OpenBook's
};

using ControlCommand = std::variant<OpenBook, CloseBook, ReleasePurchase, SellPurchase, RestockItem,
                                    TakeRecord, RecountBook, SetTerms>;

// A finished purchase that asks for its units once more, under a fresh id: its payment came
// late, or it was a dead letter that is tried again. Neither window nor phase is asked; limit
// and stock are. What is accepted is taken as the policy says (held, sold, open) and stands in
// the ledger with `replaces`. Where a unit is taken at payment the stock row decides in the end.
struct Reinstatement {
    SaleId sale;
    ItemId item;
    PurchaseId fresh;     // the same one however often it is asked: then a repeat is harmless
    PurchaseId replaces;  // the finished one
    BuyerId buyer;
    uint32_t units;
};

struct Reinstated {
    // accepted; repeated: it was accepted before; sold_out, sold_out_for_now, limit_reached,
    // key_mismatch; not_open: the item has no book. None: it is not known (the ledger failed, or
    // the books are not there), and it has to be asked again when they are.
    std::optional<ReserveOutcome> outcome{};
    HoldState hold = HoldState::held;  // of accepted and repeated; finished: released since
};

class BookControl {
public:
    virtual ~BookControl() = default;

    // Applied in the order given. Waits where the reserved room is full; never refuses.
    // `applied`, if any, is called on the owner thread.
    virtual void control(ControlCommand command, std::function<void()> applied = {}) = 0;

    // Several at once: the owner is called to them once, not for each.
    virtual void control_all(std::vector<ControlCommand> commands) {
        for (ControlCommand& command : commands) control(std::move(command));
    }

    // Waits where the reserved room is full; never refused for it. `answered` is called once,
    // when what it says is durable, on the owner thread (on the caller's while that does not
    // run). It must not block.
    virtual void reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) = 0;
};

}  // namespace doorbuster
