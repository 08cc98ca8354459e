#include "orders/worker.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/log.hpp"

namespace doorbuster {

namespace {

// What the rate cap allows in so long is worth a batch. Longer shares a commit among more
// orders; it is also the longest that an order waits for company that may not come.
constexpr milliseconds gather{200};
// Behind, that of so long: the first of a backlog waits no longer than this for the last of its batch.
constexpr milliseconds gather_behind{1000};
// No purchase for so long: the rush is over.
constexpr milliseconds rush_lasts{200};

}  // namespace

OrderWorker::OrderWorker(LedgerReader& ledger, Orders& orders, BookControl& books, Snowflake& ids,
                         const Options& options, Hooks hooks)
    : ledger_(ledger),
      orders_(orders),
      books_(books),
      ids_(ids),
      options_(options),
      hooks_(std::move(hooks)) {
    CHECK(options.rate_per_second_max > 0 && options.rate_per_second_in_rush > 0);
}

StoreResult<void> OrderWorker::load() {
    const auto position = orders_.reader().position();
    if (!position) return position.error();
    position_.store(*position, std::memory_order_relaxed);
    return {};
}

bool OrderWorker::is_in_rush(Uptime uptime) const {
    return grew_at_ && uptime - *grew_at_ < rush_lasts;
}

// The rate cap, a token bucket that holds `size`.
size_t OrderWorker::allowance(size_t size, uint32_t rate, Uptime uptime) {
    if (hurries_) tokens_ = static_cast<double>(size);
    const double elapsed_s = std::chrono::duration<double>(uptime - tokens_at_).count();
    tokens_at_ = uptime;
    tokens_ = std::min(static_cast<double>(size), tokens_ + elapsed_s * rate);
    return static_cast<size_t>(tokens_);
}

StoreResult<OrderWorker::Next> OrderWorker::step(Instant now, Uptime uptime) {
    if (uptime < wait_until_) return Next::at_later;
    // A batch costs a transaction and a sync, however small it is: while the cap holds it
    // back, it gathers. After a quiet moment the bucket is full, and an order is made at once.
    const bool in_rush = is_in_rush(uptime);
    const uint32_t rate = in_rush ? std::min(options_.rate_per_second_in_rush, options_.rate_per_second_max)
                                  : options_.rate_per_second_max;
    const auto worth_of = [&](milliseconds time) {
        return std::clamp<size_t>(static_cast<size_t>(rate * time / std::chrono::seconds(1)), 1,
                                  options_.batch_max);
    };
    const size_t worth = worth_of(gather);
    // Read when it was quiet, and then a rush began: what is too much for that stays in the ledger.
    const size_t most = hurries_ ? options_.batch_max : worth_of(gather_behind);
    if (batch_.size() > most) batch_.erase(batch_.begin() + static_cast<std::ptrdiff_t>(most), batch_.end());
    const size_t allowed = allowance(std::max(worth, batch_.size()), rate, uptime);
    auto wait_for = [&](size_t count) {
        const milliseconds whole(1 + (count - allowed) * 1000 / rate);
        wait_until_ = uptime + (in_rush ? std::min(whole, rush_lasts) : whole);  // it may be over by then
        return Next::at_later;
    };
    if (batch_.empty()) {
        if (allowed < worth) return wait_for(worth);
        auto records = ledger_.read_after(position(), one_by_one_left_ > 0 ? 1 : most);
        if (!records) return wait_and_retry(records.error(), now, uptime);
        if (records->empty()) return Next::idle;
        for (LedgerRecord& record : *records) batch_.push_back({std::move(record), {}});
    }
    // Behind: all that waits, up to what the cap allows in a second, goes into one transaction, because
    // the trees of the orders have fewer pages than a long batch has entries, and each page is then written
    // once for many. The last of them waits no longer for it: the cap would not let it through before.
    if (allowed < batch_.size() && !hurries_) return wait_for(batch_.size());

    for (Placement& placement : batch_) placement.order = OrderId{ids_.next(now)};
    const auto placed = orders_.place(position(), batch_, now);
    if (!placed) {
        // One of them cannot be placed: those before it can.
        if (placed.error().code == StoreErrc::not_allowed && batch_.size() > 1) {
            one_by_one_left_ = batch_.size();
            batch_.clear();
            return Next::more;
        }
        return wait_and_retry(placed.error(), now, uptime);
    }

    failures_ = 0;
    one_by_one_left_ -= std::min(one_by_one_left_, batch_.size());
    tokens_ -= std::min(tokens_, static_cast<double>(batch_.size()));
    position_.store(batch_.back().record.position, std::memory_order_relaxed);
    tell(*placed);
    // In a rush the next few hundred are there before a commit is over, and each of them would dirty pages of
    // its own: they gather. A trickle does not wait.
    if (!hurries_ && batch_.size() >= options_.rush_min && batch_.size() < worth_of(gather_behind))
        wait_until_ = uptime + gather;
    batch_.clear();
    return Next::more;
}

void OrderWorker::tell(std::span<const Placed> placed) {
    std::vector<PurchaseId> changed;
    for (size_t i = 0; i < batch_.size(); ++i) {
        if (batch_[i].record.seal) continue;
        const LedgerEntry& entry = *batch_[i].record.entry;
        switch (placed[i]) {
            case Placed::ordered:
                ordered_.fetch_add(1, std::memory_order_relaxed);
                if (hooks_.tally != nullptr) hooks_.tally->made();
                break;
            case Placed::reinstated:
                if (hooks_.tally != nullptr) hooks_.tally->moved(OrderState::reinstating, OrderState::paid);
                books_.control(SellPurchase{entry.sale, entry.item, entry.acceptance.purchase});
                break;
            case Placed::cancelled:
                cancelled_.fetch_add(1, std::memory_order_relaxed);
                give_back(entry);
                break;
            case Placed::known_before:
                // A ledger that many write may have it twice. One book never accepts an id twice. If it
                // did, its units are missing until somebody mends that.
                if (entry.epoch != 0) continue;
                log_error("a purchase stands in the ledger twice; `doorbuster reconcile` tells what it took",
                          {{"position", batch_[i].record.position}, {"sale", entry.sale.view()}});
                continue;
            case Placed::late:
            case Placed::sealed:
                continue;
        }
        // Its buyer knows the purchase by the id that it had first.
        if (hooks_.changed) changed.push_back(entry.replaces.value_or(entry.acceptance.purchase));
    }
    if (!changed.empty()) hooks_.changed(changed);
}

StoreResult<OrderWorker::Next> OrderWorker::wait_and_retry(const StoreError& error, Instant now,
                                                           Uptime uptime) {
    // A commit that may have landed is not repeated on a disk that has just failed: the
    // next start looks it up. A position that is not the expected one does not become so by waiting.
    if (error.outcome_unknown || error.code == StoreErrc::conflict) return error;
    if (failures_ < options_.retry_after.size()) {
        wait_until_ = uptime + options_.retry_after[failures_++];
        log_warn("the order worker tries again",
                 {{"position", position()}, {"attempt", failures_}, {"error", error.text()}});
        return Next::at_later;
    }
    const bool is_records_fault = batch_.size() == 1 && error.code == StoreErrc::not_allowed;
    if (!is_records_fault) return error;

    const LedgerRecord& record = batch_.front().record;
    const auto buried = orders_.bury(position(), record, error.detail, now);
    if (!buried) return buried.error();
    log_error("a ledger record became a dead letter",
              {{"position", record.position}, {"reason", error.detail}});
    failures_ = 0;
    one_by_one_left_ = 0;  // it was the one: the others go together again
    position_.store(record.position, std::memory_order_relaxed);
    dead_letters_.fetch_add(1, std::memory_order_relaxed);
    if (record.entry) {
        cancelled_.fetch_add(1, std::memory_order_relaxed);
        give_back(*record.entry);
        if (hooks_.changed) hooks_.changed({&record.entry->acceptance.purchase, 1});
    }
    batch_.clear();
    return Next::more;
}

void OrderWorker::give_back(const LedgerEntry& entry) {
    books_.control(ReleasePurchase{entry.sale, entry.item, entry.acceptance.purchase});
}

}  // namespace doorbuster
