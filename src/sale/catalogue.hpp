// Catalogue: every sale as the gates see it. Made anew at each change, never altered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "sale/board.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

// Where the owner thread keeps an item's book: an index, given once, never reused.
enum class ItemSlot : uint32_t {};

struct ListedItem {
    Item item;  // units_total as it is now, restocks included
    ItemSlot slot;
    std::shared_ptr<ItemBoard> board;
};

struct ListedSale {
    Sale sale;
    SaleState state;  // as recorded; see state_now()
    uint64_t version;
    std::vector<ListedItem> items;

    const ListedItem* find(std::string_view item) const {
        for (const ListedItem& listed : items) {
            if (listed.item.id.view() == item) return &listed;
        }
        return nullptr;
    }

    bool sold_out() const {
        for (const ListedItem& listed : items) {
            if (!listed.board->sold_out()) return false;
        }
        return true;
    }

    // By the figures, which are shown also where nobody may be refused for them.
    bool has_no_units() const {
        return std::ranges::all_of(items, [](const ListedItem& listed) {
            const Stock stock = listed.board->stock();
            return stock.units_total > 0 && stock.units_available == 0;
        });
    }

    // When the last unit of all went, while there is none.
    std::optional<int64_t> sold_out_at_ms() const {
        std::optional<int64_t> last;
        for (const ListedItem& listed : items) {
            const auto at = listed.board->taken_at_ms();
            if (!listed.board->sold_out() || !at) return std::nullopt;
            last = std::max(last, at);
        }
        return last;
    }

    // Sold out comes and goes with the last unit, faster than anybody records it.
    SaleState state_now() const {
        return state == SaleState::open && sold_out() ? SaleState::sold_out : state;
    }
};

class Catalogue {
public:
    // A sale that did not change keeps its pointer from one catalogue to the next.
    using Sales = std::map<std::string, std::shared_ptr<const ListedSale>, std::less<>>;

    Catalogue() = default;
    explicit Catalogue(Sales sales) : sales_(std::move(sales)) {}

    const ListedSale* find(std::string_view sale) const {
        const auto found = sales_.find(sale);
        return found == sales_.end() ? nullptr : found->second.get();
    }
    const Sales& sales() const { return sales_; }

private:
    const Sales sales_;
};

// The book's phase in a recorded state of the sale.
inline Phase phase_in(SaleState state) {
    switch (state) {
        case SaleState::draft:
        case SaleState::scheduled:
        case SaleState::warming:
            return Phase::not_ready;
        case SaleState::ready:
        case SaleState::open:
        case SaleState::sold_out:
            return Phase::selling;
        case SaleState::paused:
            return Phase::paused;
        case SaleState::closed:
        case SaleState::reconciled:
            return Phase::closed;
    }
    CHECK(false);
    return Phase::closed;
}

}  // namespace doorbuster
