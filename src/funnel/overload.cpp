#include "funnel/overload.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace doorbuster {

void DelaySensor::ticked(Uptime due, Uptime now) {
    const int64_t delay = std::max<int64_t>(0, (now - due).count());
    int64_t shortest = shortest_us_.load(std::memory_order_relaxed);
    while (delay < shortest &&
           !shortest_us_.compare_exchange_weak(shortest, delay, std::memory_order_relaxed)) {
    }
}

void DelaySensor::rests() {
    next_due_us_.store(none, std::memory_order_relaxed);
    shortest_us_.store(0, std::memory_order_relaxed);
}

Uptime DelaySensor::take(Uptime now) {
    const int64_t shortest = shortest_us_.exchange(none, std::memory_order_relaxed);
    if (shortest != none) return Uptime(shortest);
    const int64_t due = next_due_us_.load(std::memory_order_relaxed);
    if (due == none) return Uptime(0);
    return std::max(Uptime(0), now - Uptime(due));
}

bool OverloadDetector::is_bad(const Sample& sample) const {
    return sample.gate_delay > targets_.gate_delay_max || sample.queue_delay > targets_.queue_delay_max;
}

Level OverloadDetector::step(const Sample& sample) {
    const bool bad = is_bad(sample);
    bad_ = bad ? bad_ + 1 : 0;
    good_ = bad ? 0 : good_ + 1;
    if (bad_ >= targets_.bad_intervals && level_ < Level::purchase_only) {
        level_ = static_cast<Level>(static_cast<int>(level_) + 1);
        bad_ = 0;  // the step must have had time to help before the next one
    } else if (good_ >= targets_.good_intervals && level_ > Level::normal) {
        level_ = static_cast<Level>(static_cast<int>(level_) - 1);
        good_ = 0;
    }
    return level_;
}

OverloadWatch::OverloadWatch(std::vector<DelaySensor*> gates, QueueDelay queue_delay, LevelSwitch& level,
                             const OverloadTargets& targets)
    : gates_(std::move(gates)), queue_delay_(std::move(queue_delay)), level_(level), detector_(targets) {}

void OverloadWatch::tick(Uptime uptime, Instant now) {
    if (!is_on_) return;
    const Uptime queue_delay = queue_delay_();
    shortest_queue_delay_ = std::min(shortest_queue_delay_, queue_delay);
    if (!has_begun_) {
        has_begun_ = true;
        interval_ends_ = uptime + interval;
    }
    if (uptime < interval_ends_) return;
    finish_interval(uptime, now);
    shortest_queue_delay_ = queue_delay;  // the end of one interval is the beginning of the next
}

Uptime OverloadWatch::rest(Uptime uptime) const {
    if (!is_on_) return interval;
    if (has_begun_ && shortest_queue_delay_ > Uptime(0)) return period;
    return std::clamp(interval_ends_ - uptime, Uptime(milliseconds(1)), interval);
}

void OverloadWatch::finish_interval(Uptime uptime, Instant now) {
    OverloadDetector::Sample sample{.queue_delay = shortest_queue_delay_};
    for (DelaySensor* gate : gates_) sample.gate_delay = std::max(sample.gate_delay, gate->take(uptime));
    if (detector_.is_bad(sample)) bad_intervals_total_.fetch_add(1, std::memory_order_relaxed);

    const Level before = detector_.level(), after = detector_.step(sample);
    if (after != before) {
        level_.set_by_detector(after, now);
        auto ms = [](Uptime wait) { return std::chrono::duration_cast<milliseconds>(wait).count(); };
        log_warn(after > before ? "overload: less is served" : "overload is over: more is served again",
                 {{"level", name_of(after)},
                  {"gate_delay_ms", ms(sample.gate_delay)},
                  {"queue_delay_ms", ms(sample.queue_delay)}});
    }
    // From now, not from when it should have ended: a late watch must not count one wait twice.
    interval_ends_ = uptime + interval;
}

void OverloadWatch::set_targets(const OverloadTargets& targets, bool is_on, Instant now) {
    detector_.set_targets(targets);
    if (is_on_ && !is_on) {
        detector_ = OverloadDetector(targets);
        level_.set_by_detector(Level::normal, now);
        has_begun_ = false;
        shortest_queue_delay_ = Uptime::max();
    }
    is_on_ = is_on;
}

}  // namespace doorbuster
