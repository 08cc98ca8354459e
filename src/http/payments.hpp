// PaymentEndpoints: a buyer pays for an order, and the provider tells what came of it.
//
//   POST /v1/orders/{order}/payments   one attempt at a time, however often it is called
//   POST /v1/payments/webhook          the provider's events: a hint each, never the truth itself
//
// Thread safety: its gate's thread.
#pragma once

#include <span>
#include <string_view>

#include "base/standard_webhooks.hpp"
#include "http/door.hpp"
#include "http/replies.hpp"

namespace doorbuster {

class PaymentEndpoints {
public:
    PaymentEndpoints(Services& services, Replies& replies, Door& door)
        : services_(services), replies_(replies), door_(door) {}

    void begin(Exchange&, std::string_view order);

    // Signed ones pass every limit: a provider sends its events from few addresses.
    void webhook(Exchange&);

private:
    Services& services_;
    Replies& replies_;
    Door& door_;
};

// What an event says, as far as it matters: which attempt it is about, and for which order.
struct ProviderHint {
    PaymentId payment{};
    OrderId order{};
};
// {"type":"payment.captured","data":{"key":"…","reference":"…",…}}
[[nodiscard]] std::optional<ProviderHint> read_provider_event(std::string_view body);

}  // namespace doorbuster
