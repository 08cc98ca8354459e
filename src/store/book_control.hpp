// BookControl: how the orders side reaches the books.
//
// Releases, restocks and the operator's words travel to the owner thread in queue
// room of their own: a rush of purchases cannot keep a unit from coming back.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "sale/board.hpp"
#include "sale/catalogue.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

struct OpenBook {  // makes the book of an item
    ItemSlot slot;
    SaleId sale;
    ItemId item;
    Book::Terms terms;
    Stock stock;
    Phase phase;
    std::shared_ptr<ItemBoard> board;
};
struct CloseBook {  // nobody can buy the item any more; what still asks for it hears not_open
    ItemSlot slot;
};
struct ReleasePurchase {
    SaleId sale;
    ItemId item;
    PurchaseId purchase;
};
struct RestockItem {
    ItemSlot slot;
    uint32_t units;
};
struct SetTerms {
    ItemSlot slot;
    Book::Terms terms;
    Phase phase;
};

using ControlCommand = std::variant<OpenBook, CloseBook, ReleasePurchase, RestockItem, SetTerms>;

class BookControl {
public:
    virtual ~BookControl() = default;

    // Applied in the order given. Waits where the reserved room is full; never refuses.
    // `applied`, if any, is called on the owner thread.
    virtual void control(ControlCommand command, std::function<void()> applied = {}) = 0;
};

}  // namespace doorbuster
