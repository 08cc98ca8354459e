#include "config/contradictions.hpp"

#include <fmt/format.h>

#include "config/listeners.hpp"
#include "config/secrets.hpp"

namespace doorbuster {

namespace {

constexpr uint32_t window_limit_max = 64;  // an exact window remembers each of its requests

void check_window(const Option<std::string>& policy, const Option<uint32_t>& limit,
                  std::vector<std::string>& faults) {
    if (policy.value() != "sliding_window" || limit <= window_limit_max) return;
    faults.push_back(
        fmt::format("{} is {}: with {} = sliding_window it may be at most {}; choose token_bucket "
                    "for more",
                    limit.name(), limit.value(), policy.name(), window_limit_max));
}

}  // namespace

std::vector<std::string> contradictions_in(const Config& config) {
    std::vector<std::string> faults;
    check_window(config.limits.address_policy, config.limits.address_per_second, faults);
    check_window(config.limits.buyer_policy, config.limits.buyer_per_minute, faults);
    if (config.risk.strikes_bar < config.risk.strikes_slow) {
        faults.push_back(
            fmt::format("risk.strikes_bar is {}, below risk.strikes_slow, which is {}: a buyer is "
                        "slowed first and barred later",
                        config.risk.strikes_bar.value(), config.risk.strikes_slow.value()));
    }
    return faults;
}

std::vector<std::string> serving_faults(const Config& config) {
    std::vector<std::string> faults = secrets_check(config);
    if (std::string fault = listeners_fault(config); !fault.empty()) faults.push_back(std::move(fault));
    for (std::string& fault : contradictions_in(config)) faults.push_back(std::move(fault));
    return faults;
}

}  // namespace doorbuster
