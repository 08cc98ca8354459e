// HttpProvider: the payment provider behind its HTTP interface (see `doorbuster sandbox-pay`).
//
//   PUT  /v1/payments/{key}         an attempt: the same key is the same attempt
//   GET  /v1/payments/{key}         what became of it
//   POST /v1/payments/{key}/void    also of an attempt that never arrived: it must not arrive later
//   POST /v1/payments/{key}/refund
//
// An answer that did not come may have had its effect: there is no view then, and the desk asks
// again.
//
// Thread safety: ask from one thread; cancel from any.
#pragma once

#include <string>
#include <string_view>

#include "orders/provider.hpp"
#include "outbound/http_caller.hpp"

namespace doorbuster {

class HttpProvider {
public:
    struct Options {
        std::string url, key, return_url;
        std::chrono::milliseconds timeout{10'000};
    };

    explicit HttpProvider(Options options) : options_(std::move(options)) {}

    [[nodiscard]] ProviderAnswer ask(const ProviderCall& call);
    void cancel() { caller_.cancel(); }

private:
    std::string return_url_for(OrderId order) const;

    const Options options_;
    HttpCaller caller_;
};

// The provider's payment, as JSON. Nothing if it is none.
[[nodiscard]] std::optional<ProviderView> read_provider_payment(std::string_view body);

}  // namespace doorbuster
