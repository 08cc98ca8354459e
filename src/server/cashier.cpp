#include "server/cashier.hpp"

#include "base/crypto.hpp"

namespace doorbuster {

namespace {

PaymentDesk::Options desk_options(const PaymentsOptions& options) {
    return {.enabled = !options.provider_url.value().empty(),
            .calls_max = options.calls_max,
            .looks = {.look_min = milliseconds(options.look_ms_min.value()),
                      .look_max = milliseconds(options.look_ms_max.value()),
                      .void_watch = std::chrono::seconds(options.void_watch_s.value())}};
}

HttpProvider::Options provider_options(const PaymentsOptions& options) {
    std::string url = options.provider_url;
    while (url.ends_with('/')) url.pop_back();
    return {.url = std::move(url),
            .key = options.provider_key,
            .return_url = options.return_url,
            .timeout = milliseconds(options.timeout_ms.value())};
}

}  // namespace

Cashier::Cashier(const PaymentsOptions& options, Orders& orders, BookControl& books, LedgerReader& ledger,
                 Snowflake& ids, OrderTally& tally, Clock& clock, const Hooks& hooks)
    : payments_(orders, books, ids, tally, random_seed(), desk_options(options),
                {.ask = [this](ProviderCall call) { pool_.ask(std::move(call)); },
                 .post = hooks.post,
                 .changed = hooks.changed,
                 .abandoned = hooks.abandoned}),
      letters_(ledger, orders, books, hooks.post),
      pool_(provider_options(options), options.provider_url.value().empty() ? 0 : options.calls_max.value(),
            [this, &clock, post = hooks.post](const ProviderCall& call, const ProviderAnswer& answer) {
                post([this, &clock, call, answer] { payments_.answered(call, answer, clock.now()); });
            }) {}

}  // namespace doorbuster
