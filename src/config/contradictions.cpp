#include "config/contradictions.hpp"

#include <fmt/format.h>

#include "base/standard_webhooks.hpp"
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
    check_window(config.limits.address_policy, config.limits.address_per_second, faults);
    check_window(config.limits.buyer_policy, config.limits.buyer_per_minute, faults);
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
