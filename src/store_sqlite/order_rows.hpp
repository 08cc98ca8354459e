// Orders and payments as rows, and the journals that are written with them.
#pragma once

#include <optional>
#include <string_view>

#include "store/orders.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster::sqlite {

// To be followed by WHERE; the order's table is `o`.
extern const std::string_view select_orders, select_payments;

OrderRecord order_of(const Statement& row);
PaymentRecord payment_of(const Statement& row);

std::string_view name_of_hold(HoldState);
HoldState hold_of(std::string_view name);
std::string_view name_of_letter(LetterState);
LetterState letter_state_of(std::string_view name);
StockMoveKind stock_move_kind_of(std::string_view name);

// The outbox and the journal of the stock. Written inside the transaction of what they tell.
class Journal {
public:
    explicit Journal(Connection& connection);

    struct Subject {
        std::string_view sale;
        std::optional<OrderId> order = {};
        std::optional<PurchaseId> purchase = {};
        std::optional<PaymentId> payment = {};
    };
    void tell(EventKind kind, const Subject& subject, Instant now);
    void stock_moved(StockMoveKind kind, std::string_view sale, std::string_view item,
                     const std::optional<PurchaseId>& purchase, int64_t units, Instant now);

private:
    Statement event_, stock_move_;
};

}  // namespace doorbuster::sqlite
