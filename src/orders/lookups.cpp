#include "orders/lookups.hpp"

#include "base/threads.hpp"

namespace doorbuster {

Lookups::Lookups(std::vector<Readers> readers, size_t tasks_max)
    : tasks_max_(tasks_max), readers_(std::move(readers)) {
    for (Readers& own : readers_) {
        threads_.emplace_back([this, &own] {
            set_thread_up("lookup", -1);
            work(own);
        });
    }
}

Lookups::~Lookups() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

bool Lookups::run(Task task) {
    {
        std::lock_guard lock(mutex_);
        if (tasks_.size() >= tasks_max_) return false;
        tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
    return true;
}

void Lookups::work(Readers& readers) {
    for (;;) {
        Task task;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task(readers);
    }
}

StoreResult<std::optional<PurchaseView>> find_purchase(Lookups::Readers& readers, const PurchaseId& id,
                                                       const BuyerId& buyer) {
    const auto worker = readers.orders->position();
    if (!worker) return worker.error();
    const auto placed = readers.orders->find_purchase(id);
    if (!placed) return placed.error();

    PurchaseView view;
    if (*placed) {
        view = {(*placed)->sale, (*placed)->item, (*placed)->acceptance, **placed, {}};
    } else {
        const auto record = readers.ledger->find_after(*worker, id);
        if (!record) return record.error();
        if (!*record || !(*record)->entry) return std::optional<PurchaseView>();
        const LedgerEntry& entry = *(*record)->entry;
        view = {entry.sale, entry.item, entry.acceptance, {}, {}};
    }
    if (view.acceptance.buyer != buyer) return std::optional<PurchaseView>();
    if (view.placed && view.placed->order) {
        const auto order = readers.orders->find_order(*view.placed->order);
        if (!order) return order.error();
        view.order = *order;
    }
    return std::optional(std::move(view));
}

}  // namespace doorbuster
