// BatchTable: the new orders of one batch as a table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/orders.hpp"
#include "store_sqlite/memory_table.hpp"

namespace doorbuster::sqlite {

class BatchTable final : public MemoryTable {
public:
    // What an order has of its item.
    struct Terms {
        int64_t price_minor = 0;
        int64_t payment_window_ms = 0;
        std::string_view currency, hold;
    };

    const char* columns() const override {
        return "CREATE TABLE batch(purchase, sale, item, buyer, buyer_key, units, sequence, accepted_at_ms, "
               "position, order_id, amount_minor, currency, payment_window_ms, hold)";
    }
    size_t size() const override { return placements_.size(); }
    void give(sqlite3_context* to, size_t row, int column) const override;

    // What it holds from now on; terms[n] belongs to placements[n]. Both stay the caller's.
    // REQUIRES: every placement has an entry.
    void show(std::span<const Placement> placements, std::span<const Terms* const> terms);
    void hide() { show({}, {}); }

private:
    std::span<const Placement> placements_;
    std::span<const Terms* const> terms_;
};

// The buyer as the index of the orders has it: short, so that many share a page. Two buyers may have the same
// one, so the name is compared as well. It is stored: it must never change.
int64_t buyer_key(std::string_view buyer);

}  // namespace doorbuster::sqlite
