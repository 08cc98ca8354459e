// The options of payment: which provider, and how patiently it is asked.
#pragma once

#include <string>

#include "config/option.hpp"

namespace doorbuster {

struct PaymentsOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> provider_url{
        *this, "provider_url", "", url_rule,
        "Where the payment provider is, for example http://127.0.0.1:9280 for `doorbuster sandbox-pay`. "
        "Empty: nobody can pay here; orders wait for their time and expire."};
    Option<std::string> provider_key{
        *this, "provider_key", "", optional_secret_rule,
        "What this server shows the provider. Whoever has it can refund your payments."};
    Option<std::string> webhook_secret{
        *this, "webhook_secret", "", optional_secret_rule,
        "What the provider signs its events with, whsec_ and base64. Without it no event is taken, and "
        "payments are seen only when the provider is asked the next time."};
    Option<std::string> webhook_secret_previous{
        *this, "webhook_secret_previous", "", optional_secret_rule,
        "The secret before the last change: events signed with it are still taken."};
    Option<std::string> return_url{*this, "return_url", "", url_rule,
                                   "Where the provider's page sends the buyer back to, for example "
                                   "https://shop.example/orders#o{order}: "
                                   "{order} becomes the order's number. Empty: it shows no way back."};
    Option<uint32_t> calls_max{
        *this,
        "calls_max",
        16,
        {.min = 1, .max = 256},
        "Calls to the provider at the same time, each on a thread of its own. More settles a crowd sooner "
        "and asks more of the provider."};
    Option<uint32_t> timeout_ms{
        *this,
        "timeout_ms",
        10'000,
        {.min = 100, .max = 60'000},
        "How long an answer of the provider is waited for. What timed out may have happened: it is asked "
        "about again, never undone blindly."};
    Option<uint32_t> look_ms_min{
        *this,
        "look_ms_min",
        5'000,
        {.min = 100, .max = 3'600'000},
        "How soon the provider is asked again about a payment that is not final; doubles each time. Events "
        "make it faster, never needed: shorter finds a lost one sooner and costs more calls."};
    Option<uint32_t> look_ms_max{*this,
                                 "look_ms_max",
                                 600'000,
                                 {.min = 100, .max = 86'400'000},
                                 "The longest time between two such asks."};
    Option<uint32_t> void_watch_s{
        *this,
        "void_watch_s",
        86'400,
        {.min = 1, .max = 2'592'000},
        "How long a voided payment is still asked about: a provider that captured it all the same must not "
        "keep the money. A sale is not reconciled before this is over."};
};

}  // namespace doorbuster
