#include "orders/notifier.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/check.hpp"
#include "orders/event_json.hpp"

namespace doorbuster {

namespace {

constexpr Uptime count_every = std::chrono::seconds(1);
// Events that nobody wants are passed over in large steps: each is a commit, and a sync of the disk that
// orders are placed on.
constexpr size_t passed_over_max = 16'384;
constexpr uint32_t status_gone = 410;  // the receiver's word that it wants no more of this

bool is_success(uint32_t status) {
    return status >= 200 && status < 300;
}

}  // namespace

Notifier::Notifier(Outbox& outbox, OrdersReader& reader, uint64_t seed, const Options& options, Send send)
    : outbox_(outbox), reader_(reader), options_(options), send_(std::move(send)), random_(seed) {}

void Notifier::set_delivering(bool is_delivering) {
    is_delivering_ = is_delivering;
    forget_due();
}

StoreResult<void> Notifier::rest(Instant now) {
    forget_due();
    return flush(now);
}

void Notifier::forget_due() {
    look_at_ = {};
    ready_.clear();
    has_more_due_ = false;
}

StoreResult<bool> Notifier::step(Instant now, Uptime uptime) {
    if (!wants_to_look(uptime)) {
        if (const auto filled = fill(); !filled) return filled.error();
        return wants_to_look(uptime);
    }
    look_at_ = uptime + options_.look_every;
    if (const auto written = flush(now); !written) return written.error();
    const size_t count_max = is_delivering_ ? options_.batch_max : passed_over_max;
    const auto taken = outbox_.take_events(count_max, is_delivering_, now);
    if (!taken) return taken.error();
    if (is_delivering_) {
        if (const auto read = read_ahead(now); !read) return read.error();
        if (const auto filled = fill(); !filled) return filled.error();
    }
    if (const auto counted = count(uptime); !counted) return counted.error();
    return *taken == count_max || wants_to_look(uptime);
}

// Answers are written together, not one by one: each commit is a sync of the disk that orders
// are placed on.
bool Notifier::wants_to_look(Uptime uptime) const {
    const bool has_room = in_flight_.size() < options_.in_flight_max;
    return uptime >= look_at_ || answers_.size() >= options_.batch_max ||
           (has_room && ready_.empty() && has_more_due_);
}

StoreResult<void> Notifier::read_ahead(Instant now) {
    if (ready_.size() > options_.batch_max / 2) return {};
    std::unordered_set<uint64_t> busy;  // on their way: still due by the records
    for (const Delivery& one : ready_) busy.insert(one.event.number);
    for (const InFlight& one : in_flight_) busy.insert(one.event);
    const size_t asked = options_.batch_max + busy.size();
    auto due = outbox_.due(now, asked);
    if (!due) return due.error();
    has_more_due_ = due->size() == asked;
    for (Delivery& one : *due) {
        if (ready_.size() == options_.batch_max) break;
        if (!busy.contains(one.event.number)) ready_.push_back(std::move(one));
    }
    return {};
}

StoreResult<void> Notifier::fill() {
    while (in_flight_.size() < options_.in_flight_max && !ready_.empty()) {
        const Delivery& next = ready_.front();
        const auto facts = facts_of(next.event, reader_);
        if (!facts) return facts.error();
        Message message{.event = next.event.number,
                        .id = event_id(next.event.number),
                        .body = boost::json::serialize(event_json(*facts))};
        in_flight_.push_back({next.event.number, next.tries});
        ready_.pop_front();
        send_(std::move(message));
    }
    return {};
}

void Notifier::answered(Answer answer) {
    const auto found = std::ranges::find(in_flight_, answer.event, &InFlight::event);
    CHECK(found != in_flight_.end());  // answered once, and only what was sent
    answers_.push_back(noted(answer, found->tries + 1));
    in_flight_.erase(found);
}

DeliveryNote Notifier::noted(const Answer& answer, uint32_t tries) {
    DeliveryNote note{.event = answer.event,
                      .attempt = {.number = 0,
                                  .at = answer.at,
                                  .status = answer.status,
                                  .error = answer.error,
                                  .took = answer.took},
                      .state = DeliveryState::delivered,
                      .next_at = {}};
    if (is_success(answer.status)) {
        delivered_.fetch_add(1, std::memory_order_relaxed);
        return note;
    }
    if (answer.status == status_gone || tries >= tries_max) {
        note.state = DeliveryState::failed;
        failed_.fetch_add(1, std::memory_order_relaxed);
        return note;
    }
    // 80 to 120 percent: the deliveries that failed together do not come back together.
    const milliseconds after = retry_after[tries - 1];
    const auto per_mille = static_cast<int64_t>(800 + random_() % 401);
    note.state = DeliveryState::pending;
    note.next_at = answer.at + answer.took + after * per_mille / 1000;
    retried_.fetch_add(1, std::memory_order_relaxed);
    return note;
}

StoreResult<void> Notifier::flush(Instant now) {
    if (answers_.empty()) return {};
    if (auto written = outbox_.note(answers_, now); !written) return written;
    answers_.clear();
    return {};
}

StoreResult<Delivery> Notifier::resend(uint64_t event, Instant now) {
    // An answer that is written after it would undo it.
    if (const auto written = flush(now); !written) return written.error();
    look_at_ = {};
    return outbox_.resend(event, now);
}

StoreResult<void> Notifier::count(Uptime uptime) {
    if (uptime < count_at_) return {};
    count_at_ = uptime + count_every;
    const auto backlog = outbox_.backlog();
    if (!backlog) return backlog.error();
    pending_.store(backlog->pending, std::memory_order_relaxed);
    oldest_ms_.store(backlog->oldest ? to_ms(*backlog->oldest) : 0, std::memory_order_relaxed);
    return {};
}

Notifier::Figures Notifier::figures() const {
    const int64_t oldest_ms = oldest_ms_.load(std::memory_order_relaxed);
    return {.delivered = delivered_.load(std::memory_order_relaxed),
            .retried = retried_.load(std::memory_order_relaxed),
            .failed = failed_.load(std::memory_order_relaxed),
            .pending = pending_.load(std::memory_order_relaxed),
            .oldest = oldest_ms == 0 ? std::nullopt : std::optional(from_ms(oldest_ms))};
}

}  // namespace doorbuster
