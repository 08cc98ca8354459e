#include "store_cluster/cluster_books.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/threads.hpp"

namespace doorbuster {

namespace {

using std::chrono::nanoseconds;

nanoseconds steady_ns() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

ClusterBooks::ClusterBooks(KafkaRecords& records, const Options& options, Hooks hooks)
    : records_(records),
      options_(options),
      hooks_(std::move(hooks)),
      timer_(loop_),
      pace_timer_(loop_),
      queue_(options.in_hand_max),
      pace_(options.pace) {
    redis_.emplace(loop_, options_.redis);
}

ClusterBooks::~ClusterBooks() {
    CHECK(!thread_.joinable());
    redis_.reset();
}

void ClusterBooks::set_sinks(std::vector<ReplySink*> sinks) {
    sinks_ = std::move(sinks);
    replies_.resize(sinks_.size());
}

void ClusterBooks::start() {
    {
        std::lock_guard lock(room_mutex_);
        stage_ = Stage::running;
    }
    turn();
    thread_ = std::thread([this] {
        set_thread_up("books", -1);
        loop_.run();
    });
}

void ClusterBooks::stop() {
    {
        std::lock_guard lock(room_mutex_);
        if (stage_ != Stage::running) return;
        stage_ = Stage::stopping;
    }
    room_.notify_all();
    boost::asio::post(loop_, [this] { end_if_idle(); });
    thread_.join();
    redis_.reset();  // behind the loop's last turn: a timer of its own may have been due in it
}

// Those in hand are answered within the bounds of Redis and Kafka.
void ClusterBooks::end_if_idle() {
    constexpr milliseconds look_again{2};
    drain();
    const auto is_idle = [](const auto& one) { return !one || one->is_idle(); };
    bool idle = in_hand_ == 0 && std::ranges::all_of(closed_, is_idle);
    for (const auto& entry : entries_) idle = idle && (!entry || entry->acceptor->is_idle());
    {
        std::lock_guard lock(room_mutex_);
        idle = idle && controls_ == 0 && reinstatements_ == 0;
        if (idle) stage_ = Stage::stopped;
    }
    timer_.cancel();
    if (!idle) {
        timer_.expires_after(look_again);
        timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) end_if_idle();
        });
        return;
    }
    for (auto& entry : entries_) {
        if (!entry) continue;
        entry->board->close();
        entry->words->close();
    }
    loop_.stop();
}

void ClusterBooks::take_lease(std::shared_ptr<const EpochLease> lease) {
    lease_ends_at_.store(lease->ends_at().count(), std::memory_order_relaxed);
    boost::asio::post(loop_, [this, lease = std::move(lease)]() mutable {
        lease_ = std::move(lease);
        for (auto& entry : entries_) {
            if (entry) lease_to(*entry);
        }
    });
}

void ClusterBooks::lease_to(Entry& entry) const {
    if (!lease_) return;
    const BookBucket& id = entry.bucket->id();
    const ItemEpoch* known = lease_->find(id.sale, id.item);
    entry.bucket->take(known == nullptr ? std::nullopt : std::optional(*known), lease_->ends_at());
}

Submitted ClusterBooks::submit(PurchaseCommand&& command) {
    if (stage_.load(std::memory_order_acquire) != Stage::running) return Submitted::rebuilding;
    if (pg::boot_time().count() >= lease_ends_at_.load(std::memory_order_relaxed))
        return Submitted::rebuilding;
    if (predicted_wait() > pace_.wait_max()) return Submitted::overloaded;
    if (in_hand_.fetch_add(1) >= options_.in_hand_max) {
        --in_hand_;
        return Submitted::overloaded;
    }
    // Seen by end_if_idle from here on: it waits for this one, or this one sees the stop.
    if (stage_.load() != Stage::running) {
        --in_hand_;
        return Submitted::rebuilding;
    }
    waiting_.add(command.slot, command.units);
    const bool has_room = queue_.try_push(std::move(command));
    CHECK(has_room);  // there are no more in hand than it holds
    drain_soon();
    return Submitted::queued;
}

void ClusterBooks::set_pace(const Pacing& pacing) {
    pace_.set(pacing);
    drain_soon();  // who waits may wait by the old one
}

void ClusterBooks::drain_soon() {
    if (!is_draining_.exchange(true)) boost::asio::post(loop_, [this] { drain(); });
}

// Nothing in hand means no wait, whatever the last ones took: so somebody gets in and finds out.
nanoseconds ClusterBooks::busy_wait() const {
    if (in_hand_.load(std::memory_order_relaxed) == 0) return nanoseconds(0);
    return nanoseconds(usual_ns_.load(std::memory_order_relaxed));
}

nanoseconds ClusterBooks::predicted_wait() const {
    return std::max(busy_wait(), pace_.wait_of(queue_.size()));
}

PurchaseDesk::Figures ClusterBooks::figures() const {
    return {.batches = batches_.load(std::memory_order_relaxed),
            .commands = commands_.load(std::memory_order_relaxed),
            .acceptances = acceptances_.load(std::memory_order_relaxed),
            .queued = in_hand_.load(std::memory_order_relaxed),
            .predicted_wait = predicted_wait(),
            .busy_wait = busy_wait()};
}

void ClusterBooks::drain() {
    (void)is_draining_.exchange(false);  // before the queue is read: who comes later posts again
    const nanoseconds began = steady_ns();
    const size_t wanted = std::min(options_.in_hand_max, queue_.size());
    const size_t most =
        pace_.take(wanted, std::chrono::duration_cast<Uptime>(began), stage_ != Stage::running);
    uint64_t taken = 0;
    for (PurchaseCommand command; taken < most && queue_.pop(command); ++taken) {
        Entry* entry = at(command.slot);
        if (entry == nullptr) {  // closed while this one was on its way
            reply(command, began, {Verdict::decided, {ReserveOutcome::not_open}});
            continue;
        }
        entry->acceptor->reserve(
            {.purchase = command.purchase, .buyer = command.buyer, .units = command.units},
            [this, command, began](const ClusterAcceptor::Outcome& outcome) {
                reply(command, began, outcome);
            });
    }
    if (most < wanted) {
        pace_timer_.expires_after(pace_.wait());
        pace_timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) drain();
        });
    }
    if (taken == 0) return;
    batches_.fetch_add(1, std::memory_order_relaxed);
    commands_.fetch_add(taken, std::memory_order_relaxed);
}

void ClusterBooks::reply(const PurchaseCommand& command, nanoseconds began,
                         const ClusterAcceptor::Outcome& outcome) {
    waiting_.remove(command.slot, command.units);
    if (!outcome.is_news) {
        const int64_t usual = usual_ns_.load(std::memory_order_relaxed);
        usual_ns_.store((usual * 7 + (steady_ns() - began).count()) / 8, std::memory_order_relaxed);
    }
    if (outcome.verdict == Verdict::decided && outcome.answer.outcome == ReserveOutcome::accepted)
        acceptances_.fetch_add(1, std::memory_order_relaxed);
    replies_[command.sink].push_back({command.reply_to, command.purchase, outcome.verdict, outcome.answer});
    if (std::exchange(is_flushing_, true)) return;
    boost::asio::post(loop_, [this] { flush(); });
}

void ClusterBooks::flush() {
    is_flushing_ = false;
    bool has_accepted = false;
    for (size_t sink = 0; sink < sinks_.size(); ++sink) {
        const std::vector<PurchaseReply> ready = std::exchange(replies_[sink], {});
        if (ready.empty()) continue;
        for (const PurchaseReply& one : ready) {
            has_accepted |= one.verdict == Verdict::decided && one.answer.outcome == ReserveOutcome::accepted;
        }
        sinks_[sink]->deliver(ready);
        in_hand_ -= ready.size();
    }
    if (has_accepted && hooks_.on_append) hooks_.on_append();
}

void ClusterBooks::turn() {
    if (stage_ != Stage::running) return;
    for (auto& entry : entries_) {
        if (entry) entry->words->turn();
    }
    const size_t looks_max = std::max(looks_per_turn, entries_.size() / turns_per_look_max + 1);
    for (size_t i = 0, looks = 0; i < entries_.size() && looks < looks_max; ++i) {
        last_looked_at_ = (last_looked_at_ + 1) % entries_.size();
        if (const auto& entry = entries_[last_looked_at_]; entry && entry->board->look()) ++looks;
    }
    std::erase_if(closed_, [](const auto& acceptor) { return acceptor->is_idle(); });
    timer_.expires_after(options_.look_every);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) turn();
    });
}

ClusterBooks::Entry* ClusterBooks::at(ItemSlot slot) {
    const auto index = static_cast<size_t>(slot);
    return index < entries_.size() ? entries_[index].get() : nullptr;
}

ClusterBooks::Entry* ClusterBooks::find(const SaleId& sale, const ItemId& item) {
    const auto slot = slots_.find({sale, item});
    return slot == slots_.end() ? nullptr : at(slot->second);
}

}  // namespace doorbuster
