// The options of webhooks: where the shop hears of what happens, and how it knows that it is us.
#pragma once

#include <string>

#include "config/option.hpp"

namespace doorbuster {

struct WebhooksOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> url{
        *this,
        "url",
        "",
        url_rule,
        "Where the shop hears of orders and sales (Standard Webhooks, POST). Empty tells nobody; what "
        "happened before there was a URL is not told later, unless it is asked for.",
        Reload::live};
    Option<std::string> secrets{
        *this,
        "secrets",
        "",
        webhook_secrets_rule,
        "What webhooks are signed with, separated by commas, the newest first: each signs, so that a new "
        "one can be added before the old one goes. `doorbuster webhooks secret` makes one.",
        Reload::live};
    Option<bool> allow_private{
        *this,
        "allow_private",
        false,
        {},
        "Whether webhooks may go to private and loopback addresses. Right where the shop is in the same "
        "network; otherwise a name that leads there would let the server knock at its neighbours' doors.",
        Reload::live};
    Option<uint32_t> timeout_ms{
        *this,
        "timeout_ms",
        10'000,
        {.min = 100, .max = 60'000},
        "How long the shop may take to answer one. Longer forgives a slow shop; each slow one takes one of "
        "in_flight_max.",
        Reload::live};
    Option<uint32_t> in_flight_max{
        *this,
        "in_flight_max",
        8,
        {.min = 1, .max = 64},
        "Webhooks under way at once, a thread each. More bring news sooner; fewer spare the shop."};
};

}  // namespace doorbuster
