// Lookups: reads of orders and purchases, off the gate threads.
//
// A few threads, each with connections of its own. Bounded: a full queue is
// answered with "overloaded", never with "not found".
//
// Thread safety: every public call from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class Lookups {
public:
    struct Readers {
        std::unique_ptr<LedgerReader> ledger;
        std::unique_ptr<OrdersReader> orders;
        // A copy that may be a moment behind, for buyers who look at their orders; may be none.
        std::unique_ptr<OrderViews> copy{};

        OrderViews& order_views() { return copy ? *copy : *orders; }
    };
    using Task = std::function<void(Readers&)>;

    Lookups(std::vector<Readers> readers, size_t tasks_max);
    ~Lookups();  // runs what waits, then ends its threads

    // False if `tasks_max` wait already. The task runs on one of the threads.
    [[nodiscard]] bool run(Task task);

private:
    void work(Readers& readers);

    const size_t tasks_max_;
    std::vector<Readers> readers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> tasks_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

// What a buyer hears about a purchase. What the orders do not have is looked for in the ledger, behind
// where the worker was before they were asked: its records stay, so a purchase on its way from one to the
// other is never missed.
struct PurchaseView {
    SaleId sale;
    ItemId item;
    Acceptance acceptance;
    std::optional<PurchaseRecord> placed;  // none: accepted, not yet ordered
    std::optional<OrderRecord> order;
};
[[nodiscard]] StoreResult<std::optional<PurchaseView>> find_purchase(Lookups::Readers&, const PurchaseId&,
                                                                     const BuyerId&);

}  // namespace doorbuster
