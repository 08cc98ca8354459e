// Orders: the authority on sales, stock, orders and who holds what.
//
// Every change is one transaction of conditional updates; nothing reads, computes
// and writes back. `now` is handed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sale/book.hpp"
#include "sale/sale.hpp"
#include "store/errors.hpp"
#include "store/ledger.hpp"

namespace doorbuster {

struct SaleRecord {
    Sale sale;
    SaleState state = SaleState::draft;
    uint64_t version = 0;      // counts every change, restocks included; the ETag
    std::vector<Stock> stock;  // one per item, in the items' order
};

enum class PurchaseState : uint8_t { ordered, cancelled };

struct OrderRecord {
    OrderId id{};
    PurchaseId purchase;
    SaleId sale;
    ItemId item;
    BuyerId buyer;
    uint32_t units = 0;
    int64_t amount_minor = 0;
    std::string currency;
    OrderState state = OrderState::pending_payment;
    uint64_t version = 0;
    Instant created_at{}, pay_by{}, updated_at{};
};

// A purchase as the orders know it: placed, or ended with a reason.
struct PurchaseRecord {
    SaleId sale;
    ItemId item;
    Acceptance acceptance;
    PurchaseState state = PurchaseState::ordered;
    std::string reason;                // of a cancellation
    std::optional<OrderId> order;      // none if it never became one
    HoldState hold = HoldState::held;  // what the book has to know of it
};

// One record that the worker hands over, with the id that its order will have.
struct Placement {
    LedgerRecord record;
    OrderId order{};
};

enum class Placed : uint8_t {
    ordered,
    cancelled,     // stock or limit did not suffice: an explicit cancellation
    known_before,  // placed earlier; nothing was done
};

// What a buyer reads whose purchase became a dead letter; the cause is the operator's to know.
inline constexpr std::string_view reason_unplaceable = "it could not be made into an order";

struct DeadLetter {
    uint64_t position = 0;
    std::string reason;
    std::string record;  // as text
    Instant buried_at{};
};

// A buyer's active units of one item.
struct Holding {
    SaleId sale;
    ItemId item;
    BuyerId buyer;
    uint32_t units = 0;
};

// Reads. Thread safety: an instance belongs to one thread.
class OrdersReader {
public:
    virtual ~OrdersReader() = default;

    [[nodiscard]] virtual StoreResult<std::vector<SaleRecord>> sales() = 0;
    [[nodiscard]] virtual StoreResult<std::optional<OrderRecord>> find_order(OrderId) = 0;
    [[nodiscard]] virtual StoreResult<std::optional<PurchaseRecord>> find_purchase(const PurchaseId&) = 0;

    // Newest first; those older than `before` where it is given.
    [[nodiscard]] virtual StoreResult<std::vector<OrderRecord>> orders_of(const BuyerId&,
                                                                          std::optional<OrderId> before,
                                                                          size_t count_max) = 0;
    [[nodiscard]] virtual StoreResult<std::vector<DeadLetter>> dead_letters(uint64_t after_position,
                                                                            size_t count_max) = 0;

    // For rebuilding: every purchase of every sale that is not reconciled.
    [[nodiscard]] virtual StoreResult<void> each_purchase(
        const std::function<void(const PurchaseRecord&)>& visit) = 0;

    // For the audit: everything, in no particular order.
    [[nodiscard]] virtual StoreResult<void> each_order(
        const std::function<void(const OrderRecord&)>& visit) = 0;
    [[nodiscard]] virtual StoreResult<void> each_holding(
        const std::function<void(const Holding&)>& visit) = 0;

    // How far the worker has come in the ledger, and the highest order id given.
    [[nodiscard]] virtual StoreResult<uint64_t> position() = 0;
    [[nodiscard]] virtual StoreResult<OrderId> last_order() = 0;
};

// Writes. Thread safety: an instance belongs to one thread.
class Orders {
public:
    virtual ~Orders() = default;

    // Reads through the connection that writes: sees its own writes at once.
    virtual OrdersReader& reader() = 0;

    // exists: a sale with this id is there.
    [[nodiscard]] virtual StoreResult<SaleRecord> create_sale(const Sale&, SaleState, Instant now) = 0;

    // Writes terms and state of `changed`, if its version is still the recorded one.
    // Items are replaced only where `with_items` says so. conflict, not_found.
    [[nodiscard]] virtual StoreResult<SaleRecord> change_sale(const SaleRecord& changed, bool with_items,
                                                              Instant now) = 0;

    // Adds units to an item, if the sale's version is the one given. conflict, not_found.
    [[nodiscard]] virtual StoreResult<SaleRecord> restock(const SaleId&, const ItemId&, uint32_t units,
                                                          uint64_t version, Instant now) = 0;

    // Places the records and moves the position from `expected_position` to the last
    // one's, in one transaction. conflict: the position is another. not_allowed: one
    // of the records cannot be placed (an unknown item, say); nothing was done.
    [[nodiscard]] virtual StoreResult<std::vector<Placed>> place(uint64_t expected_position,
                                                                 std::span<const Placement>, Instant now) = 0;

    // Gives up on one record: a dead letter with the reason, the explicit cancellation of its
    // purchase if it names one, and the position, in one transaction.
    [[nodiscard]] virtual StoreResult<void> bury(uint64_t expected_position, const LedgerRecord&,
                                                 const std::string& reason, Instant now) = 0;

    // pending_payment -> cancelled, by its buyer; unit and right go back. not_found: no
    // such order of this buyer. not_allowed: its state does not allow it.
    [[nodiscard]] virtual StoreResult<OrderRecord> cancel(OrderId, const BuyerId&, Instant now) = 0;

    // Called when nothing waits: a good moment for upkeep such as a checkpoint.
    [[nodiscard]] virtual StoreResult<void> idle() = 0;

    // The first commit whose outcome is unknown, if there was one. Memory and disk may no
    // longer agree then, and after a failed sync nothing may be retried: the process must end.
    virtual const std::optional<StoreError>& failure() const = 0;
};

}  // namespace doorbuster
