#include "base/standard_webhooks.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view secret_prefix = "whsec_";
constexpr std::string_view version_prefix = "v1,";

// No full stop: it separates the signed parts, and an id with one could borrow from its neighbour.
bool is_id(std::string_view text) {
    return !text.empty() && text.size() <= webhook_id_bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127 && c != '.'; });
}

std::optional<std::chrono::sys_seconds> parse_timestamp(std::string_view text) {
    constexpr size_t digits_max = 11;  // until the year 5138
    if (text.empty() || text.size() > digits_max || text.front() < '0' || text.front() > '9')
        return std::nullopt;
    int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

std::string signed_text(std::string_view id, std::string_view timestamp, std::string_view body) {
    std::string text;
    text.reserve(id.size() + timestamp.size() + body.size() + 2);
    text.append(id).append(1, '.').append(timestamp).append(1, '.').append(body);
    return text;
}

// Every one of them with every signature, whichever fits.
bool any_matches(std::string_view signatures, std::span<const Digest> expected) {
    bool matches = false;
    for (size_t i = 0; i < webhook_signatures_max && !signatures.empty(); ++i) {
        const size_t space = signatures.find(' ');
        const std::string_view one = signatures.substr(0, space);
        signatures = space == std::string_view::npos ? std::string_view{} : signatures.substr(space + 1);
        if (!one.starts_with(version_prefix)) continue;  // another scheme's
        std::array<char, sizeof(Digest) + 1> room;
        const auto given = base64_decode(one.substr(version_prefix.size()), room);
        if (!given) continue;
        for (const Digest& digest : expected) {
            if (equal_in_constant_time(*given, bytes_of(digest))) matches = true;
        }
    }
    return matches;
}

}  // namespace

Result<WebhookSecret, std::string> WebhookSecret::parse(std::string_view text) {
    using Parsed = Result<WebhookSecret, std::string>;
    constexpr auto failed = boost::system::in_place_error;
    if (!text.starts_with(secret_prefix)) {
        return Parsed(failed, "a webhook secret begins with 'whsec_' (https://www.standardwebhooks.com)");
    }
    std::array<char, bytes_max + 3> room;
    const auto bytes = base64_decode(text.substr(secret_prefix.size()), room);
    if (!bytes || bytes->size() < bytes_min || bytes->size() > bytes_max) {
        return Parsed(failed, "behind 'whsec_' a webhook secret has " + std::to_string(bytes_min) + " to " +
                                  std::to_string(bytes_max) + " bytes in base64");
    }
    return WebhookSecret(*bytes);
}

std::string WebhookSecret::generate() {
    std::array<uint8_t, 32> bytes;
    fill_random(bytes);
    return std::string(secret_prefix) + base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::array<std::string, 3> WebhookHeaders::lines() const {
    return {"webhook-id: " + id, "webhook-timestamp: " + timestamp, "webhook-signature: " + signature};
}

WebhookHeaders sign_webhook(std::string_view id, Instant sent_at, std::string_view body,
                            std::span<const WebhookSecret> secrets) {
    CHECK(is_id(id) && !secrets.empty() && secrets.size() <= webhook_secrets_max);
    WebhookHeaders headers{
        .id = std::string(id), .timestamp = std::to_string(to_ms(sent_at) / 1000), .signature = {}};
    const std::string text = signed_text(id, headers.timestamp, body);
    for (const WebhookSecret& secret : secrets) {
        if (!headers.signature.empty()) headers.signature += ' ';
        headers.signature += version_prefix;
        headers.signature += base64(bytes_of(secret.sign(text)));
    }
    return headers;
}

WebhookVerdict verify_webhook(const ReceivedWebhook& webhook, std::span<const WebhookSecret> secrets,
                              Instant now, milliseconds tolerance) {
    using enum WebhookVerdict;
    const auto sent_at = parse_timestamp(webhook.timestamp);
    if (!is_id(webhook.id) || !sent_at) return malformed;
    if (webhook.signature.empty() || webhook.signature.size() > webhook_signature_bytes_max) return malformed;
    if (*sent_at < now - tolerance) return too_old;
    if (*sent_at > now + tolerance) return too_new;

    std::array<Digest, webhook_secrets_max> expected;
    const size_t tried = std::min(secrets.size(), expected.size());
    const std::string text = signed_text(webhook.id, webhook.timestamp, webhook.body);
    for (size_t i = 0; i < tried; ++i) expected[i] = secrets[i].sign(text);
    return any_matches(webhook.signature, std::span(expected).first(tried)) ? valid : no_match;
}

}  // namespace doorbuster
