// OrderMoves: carries out what order_life ruled, inside a transaction that its caller opens.
//
// Thread safety: none.
#pragma once

#include "store/orders.hpp"
#include "store_sqlite/order_rows.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster::sqlite {

class OrderMoves {
public:
    OrderMoves(Connection& connection, Journal& journal);

    // Whole or not at all; what it could not do leaves no trace in the transaction.
    Moved apply(const OrderMove& move, Instant now);

    // False: it is not the payment that was read.
    bool change_payment(const PaymentChange& change, Instant now);

private:
    Moved try_to_apply(const OrderMove& move, Instant now);
    bool move_stock(const OrderMove& move, Instant now);

    Connection& connection_;
    Journal& journal_;
    Statement update_order_, insert_payment_, update_payment_, move_units_;
};

}  // namespace doorbuster::sqlite
