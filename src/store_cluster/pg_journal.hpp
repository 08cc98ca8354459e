// Journal: what is written beside a change, in its transaction: events for the shop, the moves of the
// stock, and the units that go back into Redis. One statement per table, however many.
#pragma once

#include <optional>
#include <string_view>

#include "store/orders.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster::pg {

class Journal {
public:
    // `partition`: whose position a move of the stock names.
    Journal(uint64_t partition, Instant now) : partition_(partition), now_(now) {}

    struct Subject {
        std::string_view sale;
        std::optional<OrderId> order = {};
        std::optional<PurchaseId> purchase = {};
        std::optional<PaymentId> payment = {};
    };
    void tell(EventKind kind, const Subject& subject);

    struct Units {
        std::string_view sale, item;
        std::optional<PurchaseId> purchase;  // the holder; none: a restock
        int64_t units;
    };
    void stock_moved(StockMoveKind kind, const Units& units);
    // A release row, with the epoch that the stock row shows.
    // REQUIRES: this transaction has the stock row locked, or the epoch could pass meanwhile.
    void give_back(const Units& units) { release("returned", units); }
    // Likewise: where payment takes the unit, the slot of an order that is paid.
    void give_slot_back(const Units& units) { release("sold", units); }

    // What was noted goes with the statements that are queued.
    void queue(Connection& connection) const;

private:
    void release(std::string_view kind, const Units& units);

    const uint64_t partition_;
    const Instant now_;
    struct {
        Texts kinds, sales;
        Integers orders, payments;
        Uuids purchases;
    } events_;
    struct {
        Texts kinds, sales, items;
        Uuids purchases;
        Integers units;
    } moves_;
    struct {
        Texts kinds, sales, items;
        Uuids purchases;
        Integers units;
    } releases_;
};

}  // namespace doorbuster::pg
