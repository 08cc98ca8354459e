// Orders: the authority on sales, stock, orders and who holds what.
//
// Every change is one transaction of conditional updates; nothing reads, computes
// and writes back. `now` is handed in.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sale/book.hpp"
#include "sale/order_life.hpp"
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

// A purchase as the orders know it: placed, or ended with a reason. One whose order has given its
// units back is `cancelled`, whichever way that came about.
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
    reinstated,    // a late payment found its unit: its order is paid
    cancelled,     // stock or limit did not suffice: an explicit cancellation
    known_before,  // placed earlier; nothing was done
    late,          // its epoch is over: it waits for the next SEAL, or is cancelled
    sealed,        // a SEAL: the epochs up to its own are over
};

// What a buyer reads whose purchase became a dead letter; the cause is the operator's to know.
inline constexpr std::string_view reason_unplaceable = "it could not be made into an order";

enum class LetterState : uint8_t {  // persisted by name
    open,                           // somebody has to look
    retried,                        // it became an order after all
    dropped,                        // its cancellation stands
};

struct DeadLetter {
    uint64_t position = 0;
    std::string reason;
    std::string record;  // as text
    Instant buried_at{};
    LetterState state = LetterState::open;
};

// What became of a move. Those that were not done changed nothing.
enum class Moved : uint8_t {
    done,
    conflict,  // order or payment is not the one that was read
    no_unit,   // it asks for units that are not there
    no_right,  // it asks for units beyond the buyer's limit
    damaged,   // the stock row does not have the units that the order holds: for the audit
};

// Whose time to pay is over. Where the clock was set forward, what it gained does not count for
// the orders that were made before.
struct DueBy {
    DueBy(Instant at) : now(at), trusted(at), made_since(at) {}  // by a clock that nobody set
    DueBy(Instant at, Instant without_gain, Instant since)
        : now(at), trusted(without_gain), made_since(since) {}

    Instant at(const OrderRecord& order) const { return order.created_at >= made_since ? now : trusted; }
    bool is_over(const OrderRecord& order) const { return order.pay_by <= at(order); }

    Instant now;         // for orders made since `made_since`
    Instant trusted;     // for those before
    Instant made_since;  // when the clock was last set forward
};

struct EventRecord {
    uint64_t number = 0;  // rises; the order in which things happened
    EventKind kind{};
    Instant at{};
    SaleId sale;
    std::optional<OrderId> order;
    std::optional<PurchaseId> purchase;  // of purchase_cancelled
    std::optional<PaymentId> payment;    // of payment_refunded
};

// A change of an item's stock that the ledger does not tell: all but acceptances.
enum class StockMoveKind : uint8_t { sold, released, restocked, repaired };  // persisted by name
struct StockMove {
    uint64_t number = 0;  // rises; the order of the commits
    StockMoveKind kind{};
    SaleId sale;
    ItemId item;
    std::optional<PurchaseId> purchase;  // the holder; none: a restock
    int64_t units = 0;
    Instant at{};
    uint64_t position = 0;  // the worker's by then: what the ledger has up to there came before
    // Where the books are in Redis: that of the stock row by then. Before it, nobody could take these units.
    uint64_t epoch = 0;
};

enum class DuePayments : uint8_t {
    awaited,  // somebody, or a unit, may be waiting for the answer
    watched,  // voided: asked about only because a provider may be wrong
};

// How many orders there are in each state, by its number.
using OrderCounts = std::array<uint64_t, 9>;

// What a look at the records tells about work that waits. Zero and none where nothing does.
struct Backlog {
    std::optional<Instant> oldest_due, oldest_voiding;
    uint64_t payments_to_settle = 0, dead_letters_open = 0;
    uint64_t refund_asks_max = 0;  // of a payment in `refunding`: a time would be rewritten by every look
};

// A buyer's active units of one item.
struct Holding {
    SaleId sale;
    ItemId item;
    BuyerId buyer;
    uint32_t units = 0;
};

// Orders as their buyers ask for them. Thread safety: an instance belongs to one thread.
class OrderViews {
public:
    virtual ~OrderViews() = default;

    [[nodiscard]] virtual StoreResult<std::optional<OrderRecord>> find_order(OrderId) = 0;
    // Newest first; those older than `before` where it is given.
    [[nodiscard]] virtual StoreResult<std::vector<OrderRecord>> orders_of(const BuyerId&,
                                                                          std::optional<OrderId> before,
                                                                          size_t count_max) = 0;
};

// Reads. Thread safety: an instance belongs to one thread.
class OrdersReader : public OrderViews {
public:
    [[nodiscard]] virtual StoreResult<std::vector<SaleRecord>> sales() = 0;
    [[nodiscard]] virtual StoreResult<std::optional<PurchaseRecord>> find_purchase(const PurchaseId&) = 0;

    // Of all partitions of the ledger.
    [[nodiscard]] virtual StoreResult<std::vector<DeadLetter>> dead_letters(uint64_t after_position,
                                                                            size_t count_max) = 0;

    // For rebuilding: every purchase of every sale that is not reconciled.
    [[nodiscard]] virtual StoreResult<void> each_purchase(
        const std::function<void(const PurchaseRecord&)>& visit) = 0;

    // For the audit: every purchase of one sale, whatever its state.
    [[nodiscard]] virtual StoreResult<void> each_purchase_of(
        const SaleId& sale, const std::function<void(const PurchaseRecord&)>& visit) {
        return each_purchase([&](const PurchaseRecord& one) {
            if (one.sale == sale) visit(one);
        });
    }
    // Runs `body`, whose reads all see one moment. A store that nobody else writes has nothing to do.
    [[nodiscard]] virtual StoreResult<void> at_one_moment(const std::function<StoreResult<void>()>& body) {
        return body();
    }

    // For the audit: everything, in no particular order.
    [[nodiscard]] virtual StoreResult<void> each_order(
        const std::function<void(const OrderRecord&)>& visit) = 0;
    [[nodiscard]] virtual StoreResult<void> each_holding(
        const std::function<void(const Holding&)>& visit) = 0;

    [[nodiscard]] virtual StoreResult<std::optional<PaymentRecord>> find_payment(PaymentId) = 0;
    [[nodiscard]] virtual StoreResult<std::vector<PaymentRecord>> payments_of(OrderId) = 0;
    [[nodiscard]] virtual StoreResult<void> each_payment(
        const std::function<void(const PaymentRecord&)>& visit) = 0;
    [[nodiscard]] virtual StoreResult<void> each_stock_move(
        const std::function<void(const StockMove&)>& visit) = 0;
    // Records that came behind the SEAL of their epoch and wait for the next one. Where there is one book
    // there are none.
    [[nodiscard]] virtual StoreResult<void> each_late(const std::function<void(uint64_t position)>&) {
        return {};
    }

    // pending_payment and paying whose time to pay is over, the longest over first, without the
    // first `passed_over` of them.
    [[nodiscard]] virtual StoreResult<std::vector<OrderRecord>> due_orders(const DueBy& by, size_t count_max,
                                                                           size_t passed_over) = 0;
    // Those of the kind whose provider is to be asked, the longest waiting first.
    [[nodiscard]] virtual StoreResult<std::vector<PaymentRecord>> due_payments(DuePayments, Instant now,
                                                                               size_t count_max) = 0;
    [[nodiscard]] virtual StoreResult<std::vector<OrderRecord>> orders_in(OrderState, size_t count_max) = 0;
    [[nodiscard]] virtual StoreResult<std::vector<EventRecord>> events_after(uint64_t number,
                                                                             size_t count_max) = 0;
    [[nodiscard]] virtual StoreResult<OrderCounts> count_orders() = 0;
    [[nodiscard]] virtual StoreResult<Backlog> backlog(const DueBy& by) = 0;
    // Orders and payments of the sale that may still change by themselves.
    [[nodiscard]] virtual StoreResult<uint64_t> unsettled(const SaleId&) = 0;
    [[nodiscard]] virtual StoreResult<PaymentId> last_payment() = 0;

    // How far the worker has come in the ledger, or in its partition of it.
    [[nodiscard]] virtual StoreResult<uint64_t> position() = 0;
    // How far the workers have come in all partitions.
    [[nodiscard]] virtual StoreResult<LedgerCut> cut() {
        const auto only = position();
        if (!only) return only.error();
        return LedgerCut(*only);
    }
    // The highest order id given.
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

    // Writes terms and state of `changed`, if its version is still the recorded one; a step that the
    // shop hears of becomes an event in the same transaction.
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

    // Carries the moves out in one transaction, each of them whole or not at all: order, payment,
    // stock row, buyer's right and events together.
    [[nodiscard]] virtual StoreResult<std::vector<Moved>> move(std::span<const OrderMove>, Instant now) = 0;

    // A payment alone, with its event if there is one. conflict: it is not the one that was read.
    [[nodiscard]] virtual StoreResult<void> change_payment(const PaymentChange&, std::optional<EventKind>,
                                                           Instant now) = 0;

    // The provider's event with this id concerns the payment: it is asked about at once. False if the
    // id came before; ids are kept for `keep`. not_found: no such payment.
    [[nodiscard]] virtual StoreResult<bool> hint(std::string_view event, PaymentId, Instant now,
                                                 milliseconds keep) = 0;

    // A sale has sold its last unit, or has units again; told once per change.
    [[nodiscard]] virtual StoreResult<void> tell_sold_out(const SaleId&, bool sold_out, Instant now) = 0;

    // not_found; conflict: it is not open any more.
    [[nodiscard]] virtual StoreResult<void> close_letter(uint64_t position, LetterState, Instant now) = 0;

    // Called when nothing waits: a good moment for upkeep such as a checkpoint.
    [[nodiscard]] virtual StoreResult<void> idle() = 0;

    // The first commit whose outcome is unknown, if there was one. Memory and disk may no
    // longer agree then, and after a failed sync nothing may be retried: the process must end.
    virtual const std::optional<StoreError>& failure() const = 0;
};

}  // namespace doorbuster
