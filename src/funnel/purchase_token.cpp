#include "funnel/purchase_token.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace doorbuster {

namespace {

constexpr uint8_t version = 1;
constexpr size_t mac_at = 1 + 2 + 8 + 8 + 16, mac_bytes = 16, token_bytes = mac_at + mac_bytes;
static_assert(token_bytes * 4 / 3 == PurchaseTokens::text_size && token_bytes % 3 == 0);
static_assert(mac_bytes >= SigningKeys::mac_bytes_min);

void put_ms(char* into, Instant at) {
    const auto ms = static_cast<uint64_t>(to_ms(at));
    for (int i = 0; i < 8; ++i) into[i] = static_cast<char>(ms >> (56 - 8 * i));
}

Instant get_ms(const char* from) {
    uint64_t ms = 0;
    for (int i = 0; i < 8; ++i) ms = ms << 8 | static_cast<uint8_t>(from[i]);
    return from_ms(static_cast<int64_t>(ms));
}

SignedMessage message_of(std::string_view fields, const TokenScope& scope) {
    SignedMessage message;
    message.text(fields).text(scope.sale.view()).text(scope.item.view()).text(scope.buyer.view());
    return message;
}

}  // namespace

std::string PurchaseTokens::mint(const PurchaseId& purchase, const TokenScope& scope,
                                 const Validity& validity) const {
    std::array<char, token_bytes> bytes;
    const auto key = keys_.current_id();
    bytes[0] = version;
    bytes[1] = static_cast<char>(key[0]);
    bytes[2] = static_cast<char>(key[1]);
    put_ms(bytes.data() + 3, validity.issued_at);
    put_ms(bytes.data() + 11, validity.expires_at);
    std::memcpy(bytes.data() + 19, purchase.bytes.data(), purchase.bytes.size());
    const Digest mac = keys_.sign(message_of({bytes.data(), mac_at}, scope).view());
    std::memcpy(bytes.data() + mac_at, mac.data(), mac_bytes);
    return base64url({bytes.data(), bytes.size()});
}

Result<PurchaseTokens::Opened, TokenFault> PurchaseTokens::verify(std::string_view text,
                                                                  const TokenScope& scope) const {
    if (text.size() != text_size) return TokenFault::malformed;
    std::array<char, token_bytes> bytes;
    if (!base64url_decode(text, bytes) || bytes[0] != version) return TokenFault::malformed;

    const SigningKeys::KeyId key = {static_cast<uint8_t>(bytes[1]), static_cast<uint8_t>(bytes[2])};
    if (!keys_.verifies(key, message_of({bytes.data(), mac_at}, scope).view(),
                        {bytes.data() + mac_at, mac_bytes})) {
        return TokenFault::foreign;
    }
    Opened opened{
        .purchase = {},
        .validity = {.issued_at = get_ms(bytes.data() + 3), .expires_at = get_ms(bytes.data() + 11)}};
    std::memcpy(opened.purchase.bytes.data(), bytes.data() + 19, opened.purchase.bytes.size());
    return opened;
}

Result<PurchaseId, TokenFault> PurchaseTokens::open(std::string_view text, const TokenScope& scope,
                                                    Instant now) const {
    const auto opened = verify(text, scope);
    if (!opened) return opened.error();
    if (opened->validity.issued_at > now + skew_max) return TokenFault::future_dated;
    if (now >= opened->validity.expires_at) return TokenFault::expired;
    return opened->purchase;
}

std::optional<PurchaseId> PurchaseTokens::named_purchase(std::string_view text,
                                                         const TokenScope& scope) const {
    const auto opened = verify(text, scope);
    if (!opened) return std::nullopt;
    return opened->purchase;
}

PurchaseId purchase_of_check(std::string_view check_id, const TokenScope& scope) {
    constexpr std::string_view prefix = "check ";
    std::array<char, 255> key;
    CHECK(prefix.size() + check_id.size() <= key.size());
    prefix.copy(key.data(), prefix.size());
    check_id.copy(key.data() + prefix.size(), check_id.size());
    return purchase_id_of(scope.sale, scope.item, scope.buyer, {key.data(), prefix.size() + check_id.size()});
}

}  // namespace doorbuster
