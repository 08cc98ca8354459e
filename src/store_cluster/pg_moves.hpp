// Moves: carries out what order_life ruled, inside a transaction that its caller opens.
//
// Orders, payments and stock rows are locked in this order, each sorted; then every move is judged
// against them in memory, whole or not at all, and what is left is written with one statement per
// table.
//
// Thread safety: none.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "store/row_words.hpp"
#include "store_cluster/pg_connection.hpp"
#include "store_cluster/pg_journal.hpp"

namespace doorbuster::pg {

class Moves {
public:
    Moves(Connection& connection, Journal& journal, std::span<const OrderMove> moves, Instant now);

    // What could not be done leaves no trace. The journal is the caller's to write, behind this.
    std::vector<Moved> run();

private:
    struct OrderNow {
        uint64_t version_read = 0, version = 0;
        std::string state;
        const OrderRecord* after = nullptr;  // none: not moved
    };
    struct PaymentNow {
        uint64_t version_read = 0, version = 0;
        const PaymentRecord* after = nullptr;
    };
    struct StockNow {
        int64_t available = 0, held = 0, sold = 0;  // what the row has now
        int64_t available_read = 0, held_read = 0, sold_read = 0;
        bool is_touched = false;
    };
    using ItemKey = std::pair<std::string_view, std::string_view>;  // views of the moves

    void read();
    Moved judge(const OrderMove& move);
    bool move_stock(const OrderMove& move);
    void write();

    Connection& connection_;
    Journal& journal_;
    const std::span<const OrderMove> moves_;
    const Instant now_;
    std::map<OrderId, OrderNow> orders_;
    std::map<PaymentId, PaymentNow> payments_;  // that were there before
    std::vector<const PaymentRecord*> new_payments_;
    std::map<ItemKey, StockNow> stock_;
};

// New attempts, as nobody has asked for them yet.
void queue_new_payments(Connection& connection, std::span<const PaymentRecord* const> payments, Instant now);
// A payment alone. False: it is not the one that was read.
bool change_payment(Connection& connection, const PaymentChange& change, Instant now);

}  // namespace doorbuster::pg
