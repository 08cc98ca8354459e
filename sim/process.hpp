// Process: one life of the server, from its start to its crash, without threads.
//
// The shard, worker, desks, notifier, rebuild and admission are the product's own; what is
// simulated is only what runs them: queues, and who is next.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/bounded_queue.hpp"
#include "base/clock.hpp"
#include "base/snowflake.hpp"
#include "orders/letters_desk.hpp"
#include "orders/lookups.hpp"
#include "orders/notifier.hpp"
#include "orders/payment_desk.hpp"
#include "orders/sale_desk.hpp"
#include "orders/worker.hpp"
#include "shard/rebuild.hpp"
#include "shard/shard.hpp"
#include "sim/faults.hpp"
#include "sim/memory_ledger.hpp"
#include "sim/memory_orders.hpp"
#include "sim/memory_outbox.hpp"

namespace doorbuster::sim {

struct Ask {  // a purchase as it arrives at the gate
    uint32_t number = 0;
    BuyerId buyer;
    ItemId item;
    PurchaseId purchase;
    uint32_t units = 1;
};

struct Answer {
    Heard heard = Heard::nothing;
    uint64_t sequence = 0;
    PurchaseId holder{};  // of limit_reached
};

class Process final : public BookControl, private ReplySink {
public:
    struct Stores {  // what outlives it
        LedgerState& ledger;
        OrdersState& orders;
        Disk& disk;
    };
    struct Outside {
        std::function<void(const Ask&, const Answer&)> emit;
        // provider_answered() follows, exactly once.
        std::function<void(const ProviderCall&)> ask_provider;
        // event_answered() follows, exactly once.
        std::function<void(const Notifier::Message&)> send_event;
        std::function<bool()> repeats_release;
        // The worker lets purchases wait for more of them.
        std::function<void()> gathers;
        MemoryOrders::Hooks store;
    };

    Process(const Stores& stores, Clock& clock, size_t queue_capacity, uint64_t seed, Outside outside);

    // Any of these may throw Crash. False: the process ended by itself, with exit code 1.
    [[nodiscard]] bool start();
    void receive(const Ask& ask);
    [[nodiscard]] bool owner_step();
    [[nodiscard]] bool orders_step();
    // What is left to do when its operator stops it; `sleep_until` lets time pass.
    [[nodiscard]] bool end(const std::function<void(Uptime)>& sleep_until);
    // After it: every order was made that could be, and it waited only for what had failed.
    bool ended_well() const { return ended_well_; }

    // On the orders thread. `done` hears whether the change took effect.
    void operate(SaleVerb verb, std::function<void(bool)> done);
    void restock(const ItemId& item, uint32_t units, std::function<void(bool)> done);
    void begin_payment(OrderId order, const BuyerId& buyer, PaymentDesk::Paid done);
    void cancel(OrderId order, const BuyerId& buyer);
    void refund(OrderId order, bool units_return);
    void retry_letter(uint64_t position, LettersDesk::Done done);
    void drop_letter(uint64_t position, LettersDesk::Done done);
    void hint(const std::string& event, PaymentId payment, std::function<void(bool)> done);
    void provider_answered(const ProviderCall& call, const ProviderAnswer& answer);
    void event_answered(const Notifier::Answer& answer);

    void control(ControlCommand command, std::function<void()> applied) override;
    void reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) override;

    bool running() const { return running_; }  // the books are there
    bool has_work() const {
        return queue_.size() > 0 || !controls_.empty() || !reinstatements_.empty() || !tasks_.empty() ||
               payments_.calls_under_way() > 0;
    }
    bool caught_up() const { return worker_.position() == ledger_state_.records.size(); }

    // Units on their way back to the book: recorded, not applied yet.
    uint32_t units_returning(const ItemId& item, std::optional<BuyerId> of_buyer) const;
    // Room for orders that the book does not know of yet, where payment takes the unit.
    uint32_t slots_returning(const ItemId& item) const;
    bool has_words_pending() const;  // the operator's, on their way to the books
    const ListedSale& listed() const { return *catalogue_->find("sim"); }
    const Book& book(const ItemId& item) const { return *shard_.book(listed().find(item.view())->slot); }

private:
    struct Control {
        ControlCommand command;
        std::function<void()> applied;
    };

    void deliver(std::span<const PurchaseReply>) override;
    bool run_tasks();
    StoreResult<OrderWorker::Next> worker_step();
    const Acceptance& accepted(const PurchaseId& purchase) const;

    LedgerState& ledger_state_;
    OrdersState& orders_state_;
    const Disk& disk_;
    Clock& clock_;
    const Outside outside_;
    MemoryLedger ledger_;
    MemoryLedgerReader ledger_reader_;
    MemoryOrders orders_;
    MemoryOutbox outbox_;
    Snowflake ids_;
    Shard shard_;
    OrderTally tally_;
    OrderWorker worker_;
    std::shared_ptr<const Catalogue> catalogue_;
    SaleDesk desk_;
    PaymentDesk payments_;
    LettersDesk letters_;
    Notifier notifier_;
    BoundedQueue<PurchaseCommand> queue_;
    std::deque<Control> controls_;
    std::vector<ReinstateCommand> reinstatements_;
    std::deque<std::function<void()>> tasks_;
    std::deque<Ask> asks_;  // those submitted; a reply_to points here
    bool running_ = false;
    bool retries_ = false;  // the worker's stores have failed since it last came further
    Uptime gathers_until_{};
    bool ended_well_ = false;
};

}  // namespace doorbuster::sim
