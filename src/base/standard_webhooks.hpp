// Standard Webhooks (https://www.standardwebhooks.com): who sent this event, and when?
//
// The signature covers id, time and the body's raw bytes, so that an event can neither be made
// up, nor changed, nor sent again later. Several secrets at once make a rotation possible: the
// sender signs with the old and the new one, the receiver takes either.
//
//   webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek
//   webhook-timestamp: 1614265330
//   webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
//
// Thread safety: const calls from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/result.hpp"

namespace doorbuster {

class WebhookSecret {
public:
    static constexpr size_t bytes_min = 24, bytes_max = 64;

    // "whsec_" and the base64 of 24 to 64 bytes. The error does not repeat the text.
    [[nodiscard]] static Result<WebhookSecret, std::string> parse(std::string_view text);

    // A fresh one, in the form that parse reads.
    static std::string generate();

    Digest sign(std::string_view signed_text) const { return key_.sign(signed_text); }

private:
    explicit WebhookSecret(std::string_view bytes) : key_(bytes) {}
    HmacKey key_;
};

// At most so many are signed with, and so many tried: the rest is not looked at.
constexpr size_t webhook_secrets_max = 4;
constexpr size_t webhook_signatures_max = 8;
constexpr size_t webhook_id_bytes_max = 256;
constexpr size_t webhook_signature_bytes_max = 1024;
constexpr std::chrono::minutes webhook_tolerance{5};

struct WebhookHeaders {
    std::string id, timestamp, signature;

    // As lines of a request.
    std::array<std::string, 3> lines() const;
};

// `sent_at` is this very attempt's time: a retry keeps its id and is signed anew.
// REQUIRES: 1 <= secrets.size() <= webhook_secrets_max; an id that verify_webhook would take.
WebhookHeaders sign_webhook(std::string_view id, Instant sent_at, std::string_view body,
                            std::span<const WebhookSecret> secrets);

enum class WebhookVerdict : uint8_t {
    valid,
    too_old,    // sent longer ago than the tolerance: perhaps a replay
    too_new,    // from the future by more than the tolerance
    no_match,   // no signature of ours
    malformed,  // a header is missing, too long or not of the form
};

struct ReceivedWebhook {
    std::string_view id, timestamp, signature;  // the headers' values; empty where missing
    std::string_view body;                      // raw, before anybody has parsed it
};

// Compares in constant time, and tries every secret with every signature whichever fits.
WebhookVerdict verify_webhook(const ReceivedWebhook&, std::span<const WebhookSecret> secrets, Instant now,
                              milliseconds tolerance = webhook_tolerance);

}  // namespace doorbuster
