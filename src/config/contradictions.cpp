#include "config/contradictions.hpp"

#include <fmt/format.h>

#include "base/limit_bounds.hpp"
#include "base/standard_webhooks.hpp"
#include "config/listeners.hpp"
#include "config/secrets.hpp"

namespace doorbuster {

namespace {

void check_window(const Option<std::string>& policy, const Option<uint32_t>& limit,
                  std::vector<std::string>& faults) {
    if (policy.value() != "sliding_window" || limit <= window_limit_max) return;
    faults.push_back(
        fmt::format("{} is {}: with {} = sliding_window it may be at most {}; choose token_bucket "
                    "for more",
                    limit.name(), limit.value(), policy.name(), window_limit_max));
}

void check_burst(const Option<uint32_t>& burst, const Option<uint32_t>& limit, std::chrono::seconds window,
                 std::vector<std::string>& faults) {
    if (limit == 0 || refills_in_time(burst, limit, window)) return;
    faults.push_back(
        fmt::format("{} is {}: with {} = {} it would take more than a day to refill; lower the "
                    "one or raise the other",
                    burst.name(), burst.value(), limit.name(), limit.value()));
}

void check_limits(const LimitsOptions& limits, std::vector<std::string>& faults) {
    using namespace std::chrono_literals;
    check_window(limits.address_policy, limits.address_per_second, faults);
    check_window(limits.buyer_policy, limits.buyer_per_minute, faults);
    if (limits.address_policy.value() == "token_bucket") {
        check_burst(limits.address_burst, limits.address_per_second, 1s, faults);
    }
    if (limits.buyer_policy.value() == "token_bucket") {
        check_burst(limits.buyer_burst, limits.buyer_per_minute, 60s, faults);
    }
    check_burst(limits.global_burst, limits.global_per_second, 1s, faults);
}

void check_payments(const PaymentsOptions& payments, std::vector<std::string>& faults) {
    if (!payments.provider_url.value().empty() && payments.provider_key.value().empty()) {
        faults.push_back(
            "payments.provider_url is set without payments.provider_key: the provider gives one out");
    }
    for (const auto* secret : {&payments.webhook_secret, &payments.webhook_secret_previous}) {
        if (secret->value().empty()) continue;
        if (const auto parsed = WebhookSecret::parse(secret->value()); !parsed)
            faults.push_back(fmt::format("{}: {}", secret->name(), parsed.error()));
    }
    if (payments.look_ms_max < payments.look_ms_min) {
        faults.push_back(fmt::format("payments.look_ms_max is {}, below payments.look_ms_min, which is {}",
                                     payments.look_ms_max.value(), payments.look_ms_min.value()));
    }
}

void check_webhooks(const WebhooksOptions& webhooks, std::vector<std::string>& faults) {
    if (webhooks.url.value().empty() || !parts_of(webhooks.secrets.value()).empty()) return;
    const std::string fresh = WebhookSecret::generate();
    faults.push_back(fmt::format(
        "webhooks.url is set without webhooks.secrets: the shop could not tell its webhooks from anybody "
        "else's; `doorbuster webhooks secret` makes one\n"
        "  a good one, for the environment:  export {}='{}'\n"
        "  or for doorbuster.toml, in [webhooks]:  secrets = \"{}\"",
        webhooks.secrets.environment_name(), fresh, fresh));
}

}  // namespace

std::vector<std::string> contradictions_in(const Config& config) {
    std::vector<std::string> faults;
    check_limits(config.limits, faults);
    check_payments(config.payments, faults);
    check_webhooks(config.webhooks, faults);
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
