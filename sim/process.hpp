// Process: one life of the server, from its start to its crash, without threads.
//
// The shard, worker, sale desk, rebuild and admission are the product's own; what is
// simulated is only what runs them: queues, and who is next.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/bounded_queue.hpp"
#include "base/clock.hpp"
#include "base/snowflake.hpp"
#include "orders/lookups.hpp"
#include "orders/sale_desk.hpp"
#include "orders/worker.hpp"
#include "shard/rebuild.hpp"
#include "shard/shard.hpp"
#include "sim/faults.hpp"
#include "sim/memory_ledger.hpp"
#include "sim/memory_orders.hpp"

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
    using Emit = std::function<void(const Ask&, const Answer&)>;

    Process(LedgerState& ledger, OrdersState& orders, Disk& disk, Clock& clock, size_t queue_capacity,
            Emit emit);

    // Any of these may throw Crash. False: the process ended by itself, with exit code 1.
    [[nodiscard]] bool start();
    void receive(const Ask& ask);
    [[nodiscard]] bool owner_step();
    [[nodiscard]] bool orders_step();

    // On the orders thread. `done` hears whether the change took effect.
    void operate(SaleVerb verb, std::function<void(bool)> done);
    void restock(const ItemId& item, uint32_t units, std::function<void(bool)> done);
    void cancel(OrderId order, const BuyerId& buyer, std::function<void(bool)> done);

    void control(ControlCommand command, std::function<void()> applied) override;

    bool running() const { return running_; }  // the books are there
    bool has_work() const { return queue_.size() > 0 || !controls_.empty() || !tasks_.empty(); }
    bool caught_up() const { return worker_.position() == ledger_state_.records.size(); }

    // Units on their way back to the book: recorded, not applied yet.
    uint32_t units_returning(const ItemId& item, std::optional<BuyerId> of_buyer) const;
    bool has_words_pending() const;  // the operator's, on their way to the books
    const ListedSale& listed() const { return *catalogue_->find("sim"); }
    const Book& book(const ItemId& item) const { return *shard_.book(listed().find(item.view())->slot); }

private:
    struct Control {
        ControlCommand command;
        std::function<void()> applied;
    };

    void deliver(std::span<const PurchaseReply>) override;

    LedgerState& ledger_state_;
    OrdersState& orders_state_;
    Clock& clock_;
    const Emit emit_;
    MemoryLedger ledger_;
    MemoryLedgerReader ledger_reader_;
    MemoryOrders orders_;
    Snowflake ids_;
    Shard shard_;
    OrderWorker worker_;
    std::shared_ptr<const Catalogue> catalogue_;
    SaleDesk desk_;
    BoundedQueue<PurchaseCommand> queue_;
    std::deque<Control> controls_;
    std::deque<std::function<void()>> tasks_;
    std::deque<Ask> asks_;  // those submitted; a reply_to points here
    bool running_ = false;
};

}  // namespace doorbuster::sim
