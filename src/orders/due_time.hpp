// DueTime: what the time of day is for those who have to pay by then.
//
// A clock that is set forward must not take a quarter of an hour from every buyer: what it
// gained at once, beyond the time that passed, does not count until a day is over, for what was
// made before that. By then every window that was open has ended by the time that really passed.
// What is made after the step has its time by the clock as it is. A clock that is set back runs
// slowly until it is right (see Clock), so nothing comes early by it; where it was set forward
// before, the gain melts away meanwhile.
//
// A process that starts again believes the clock.
// Thread safety: none.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class DueTime {
public:
    static constexpr milliseconds step_min{2'000};  // less is the clock being steered
    static constexpr Uptime distrust{std::chrono::hours(24)};

    // Called often: what passes between two calls is how a step is told from time.
    void observe(Instant now, Uptime uptime) {
        // The time of day at uptime 0. It stays what it is until somebody sets the clock.
        const Instant origin = now - std::chrono::floor<milliseconds>(uptime);
        if (!origin_) origin_ = trusted_ = origin;
        if (origin - *origin_ > step_min) {
            distrusted_until_ = uptime + distrust;
            stepped_at_ = now;
        }
        origin_ = origin;
        const bool is_ahead = uptime < distrusted_until_ && origin > trusted_;
        if (!is_ahead) {
            trusted_ = origin;
            distrusted_until_ = Uptime{};
        }
    }

    milliseconds ahead() const { return origin_ ? *origin_ - trusted_ : milliseconds{0}; }
    DueBy of(Instant now) const { return {now, now - ahead(), stepped_at_}; }

private:
    std::optional<Instant> origin_;  // as last seen
    Instant trusted_{};              // as it was before the clock was set forward
    Instant stepped_at_{};           // when it last was, by the clock that came out of it
    Uptime distrusted_until_{};
};

}  // namespace doorbuster
