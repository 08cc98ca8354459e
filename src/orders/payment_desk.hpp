// PaymentDesk: moves orders from unpaid to paid or ended, and money back where it must.
//
// The rules are in sale/order_life.hpp; here is who asks them, and when. Every decision
// reads the records, asks for the ruling, and hands the move to the store, which refuses it
// if the records are no longer those; then it is ruled again. Only after the commit the book
// hears of it: a unit is never in the book before it is in the records.
//   - a hint (webhook) and the clock do the same: the provider is asked, its word counts
//   - orders whose time is over are swept in batches: no timer that a crash could forget
//   - a capture that came too late asks the book for a unit until it has said yes or no
//
// Steppable: no thread, no clock, no I/O of its own.
// Thread safety: none; it lives on the orders thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/snowflake.hpp"
#include "orders/due_time.hpp"
#include "orders/look_schedule.hpp"
#include "orders/provider.hpp"
#include "orders/tally.hpp"
#include "store/book_control.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class PaymentDesk {
public:
    struct Options {
        // A provider is set up. Without one nothing can be paid, and orders still expire.
        bool enabled = false;
        size_t calls_max = 64;     // to the provider at the same time; what is due then waits
        size_t waiters_max = 8;    // for the page of one attempt; the next hears `unavailable`
        size_t attempts_max = 10;  // to pay for one order; the next hears `not_allowed`
        LookSchedule::Options looks{};
        milliseconds event_keep{std::chrono::days(7)};  // ids of the provider's events: it repeats them
        size_t sweep_batch = 500;
        milliseconds sweep_every{200};  // while nothing is due
        size_t reinstating_max = 1000;  // that are asked for at a time; the others wait for these
    };

    struct Hooks {
        // Runs the call off this thread; answered() must follow on this one, exactly once.
        std::function<void(ProviderCall)> ask;
        // Runs the task on this thread, later; never refuses it.
        std::function<void(std::function<void()>)> post;
        // Purchases whose view changed, after the commit. May be empty.
        std::function<void(std::span<const PurchaseId>)> changed;
        // An order that was never paid has ended: a strike. May be empty.
        std::function<void(const BuyerId&)> abandoned;
    };

    using Paid = std::function<void(StoreResult<PaymentRecord>)>;
    using Done = std::function<void(StoreResult<OrderRecord>)>;

    PaymentDesk(Orders& orders, BookControl& books, Snowflake& ids, OrderTally& tally, uint64_t seed,
                const Options& options, Hooks hooks);

    // Counts what is there; before the first step.
    [[nodiscard]] StoreResult<void> load();

    // The buyer wants to pay: one attempt per order until it is declined, however often this is
    // called. Answered when the attempt's page is known. unavailable: the provider cannot be
    // reached now, ask again (the attempt stays). not_found: no such order of this buyer.
    // not_allowed: detail says why.
    void begin(OrderId order, const BuyerId& buyer, Instant now, Paid done);

    // The buyer does not want it any more. Repeating is safe. An order that is being paid answers
    // in `voiding`: the provider has to say no first. not_found, not_allowed.
    void cancel(OrderId order, const BuyerId& buyer, Instant now, const Done& done);

    // The shop gives the money of a paid order back. Repeating is safe. not_found, not_allowed.
    void refund(OrderId order, bool units_return, std::string reason, Instant now, const Done& done);

    // The provider's event concerns the attempt. False: it came before. not_found.
    [[nodiscard]] StoreResult<bool> hint(std::string_view event, PaymentId payment, Instant now);

    void answered(const ProviderCall& call, const ProviderAnswer& answer, Instant now);

    // One turn of what is due: a batch of orders to expire, attempts to ask about, late captures
    // to put to the book. True: there is more to do at once. An error is final: the store failed
    // beyond the retries.
    [[nodiscard]] StoreResult<bool> step(Instant now, Uptime uptime);

    size_t calls_under_way() const { return calls_.size(); }
    // Whose time to pay is over, also by a clock that was set forward.
    DueBy due_by(Instant now) const { return due_.of(now); }

private:
    struct Call {
        bool again = false;     // a hint came while it was under way
        bool is_watch = false;  // about a voided attempt: nobody waits
        std::vector<Paid> waiters;
    };
    struct Attempt {
        OrderRecord order;
        PaymentRecord payment;
    };

    StoreResult<std::optional<OrderRecord>> find_own(OrderId order, const BuyerId& buyer);
    StoreResult<Attempt> find_attempt(PaymentId payment);
    StoreResult<OrderMove> with_attempt_due(OrderMove move, Instant now);
    StoreResult<Moved> carry_out(const OrderMove& move, Instant now);
    StoreResult<void> change_payment(const PaymentChange& change, Instant now);
    void tell(std::span<const OrderMove> moves, std::span<const Moved> moved);

    void join(const Attempt& attempt, Paid done);
    void ask(const Attempt& attempt, Paid waiter);
    StoreResult<bool> record(const ProviderCall& call, const ProviderAnswer& answer, bool again, Instant now);
    void answer_waiters(const Call& call, PaymentId payment, const ProviderAnswer& answer);

    StoreResult<bool> turn(Instant now, Uptime uptime);
    StoreResult<bool> sweep(Instant now, Uptime uptime);
    void pass_over(std::span<const OrderMove> moves, std::span<const Moved> moved, Uptime uptime);
    StoreResult<void> ask_what_is_due(Instant now);
    StoreResult<void> watch(size_t watches_max, size_t calls_max, Instant now);
    StoreResult<void> ask_about(DuePayments which, size_t calls_max, Instant now);
    StoreResult<void> ask_books(Uptime uptime);
    void book_answered(OrderId order, const Reinstated& answer);
    void note(const StoreError& error);

    Orders& orders_;
    BookControl& books_;
    Snowflake& ids_;
    OrderTally& tally_;
    const Options options_;
    const Hooks hooks_;

    LookSchedule schedule_;
    DueTime due_;
    std::map<PaymentId, Call> calls_;     // under way; at most calls_max
    std::set<OrderId> asking_books_;      // at most reinstating_max
    std::set<OrderId> refused_by_books_;  // to be refunded in the next turn; at most reinstating_max
    Uptime ask_books_at_{};
    Uptime sweep_at_{};
    size_t passed_over_ = 0;  // due orders whose stock row is damaged: the sweep begins behind them
    Uptime pass_over_until_{};
    std::optional<StoreError> trouble_;  // of the store, since the last turn
    size_t failures_ = 0;                // turns in a row
    Uptime wait_until_{};
};

}  // namespace doorbuster
