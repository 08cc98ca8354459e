#include "funnel/limit_policy.hpp"

#include "base/check.hpp"

namespace doorbuster {

using Kind = LimitPolicy::Kind;
using std::chrono::seconds;

std::string_view fault_of(const LimitPolicy& policy) {
    if (policy.window < seconds(1) || policy.window > limit_window_max) return "a window is 1 s to 24 h";
    if (policy.window % seconds(1) != Uptime{}) return "a window is a whole number of seconds";
    if (policy.limit == 0) return {};
    if (policy.kind == Kind::sliding_window) {
        return policy.limit <= window_limit_max ? std::string_view{} : "a sliding window passes at most 64";
    }
    if (policy.kind == Kind::token_bucket && policy.burst == 0) return "a token bucket holds at least 1";
    if (policy.limit > bucket_limit_max) return "a limit is at most 1,000,000,000";
    if (policy.kind == Kind::leaky_bucket) return {};
    if (!refills_in_time(policy.burst, policy.limit, std::chrono::floor<seconds>(policy.window))) {
        return "a burst refills within a day";
    }
    return {};
}

Rate::Rate(const LimitPolicy& policy) : kind_(policy.kind), limit_(policy.limit) {
    CHECK(policy.limit > 0 && fault_of(policy).empty());
    const uint64_t window = ticks(policy.window);
    // Rounded up: a rate that is not a whole number of ticks is kept a little too strictly.
    interval_ = kind_ == Kind::sliding_window ? window : (window + policy.limit - 1) / policy.limit;
    capacity_ = interval_ * (kind_ == Kind::leaky_bucket ? 1 : policy.burst);
}

}  // namespace doorbuster
