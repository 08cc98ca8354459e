// SandboxApi: the sandbox provider's HTTP interface, without the wire.
//
//   PUT  /v1/payments/{key}          the merchant's calls, with its API key
//   GET  /v1/payments/{key}
//   POST /v1/payments/{key}/void
//   POST /v1/payments/{key}/refund
//   POST /v1/payments/{key}/capture  what the pay page does, for a test's buyers
//   POST /v1/payments/{key}/decline
//   GET  /v1/payments?after=&limit=  every payment, for a test's judge
//   GET, PUT /v1/faults              the fault switch, and how the webhooks fared
//   GET  /pay/{key}?lang=            the buyer's page; POST /pay/{key}/capture, /decline
//
// Thread safety: none; it belongs to the server's thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sandbox/exchange.hpp"
#include "sandbox/provider.hpp"
#include "sandbox/webhook_sender.hpp"

namespace doorbuster::sandbox {

class SandboxApi {
public:
    using Counts = std::function<WebhookCounts()>;

    SandboxApi(SandboxProvider& provider, std::string api_key, Counts counts)
        : provider_(provider), api_key_(std::move(api_key)), counts_(std::move(counts)) {}

    [[nodiscard]] Reply answer(const Ask& ask, const Moment& at);

    // Whether the faults of the interface may strike here: the merchant's own calls, and neither
    // those of buyers nor those of a test.
    static bool is_merchants(const Ask& ask);

private:
    Reply answer_list(std::string_view query);
    Reply answer_faults(const Ask& ask);
    Reply answer_payment(const Ask& ask, std::string_view path, const Moment& at);
    Reply answer_page(const Ask& ask, std::string_view path, const Moment& at);
    Reply reply_of(const SandboxProvider::Outcome& outcome) const;

    SandboxProvider& provider_;
    const std::string api_key_;
    const Counts counts_;
};

}  // namespace doorbuster::sandbox
