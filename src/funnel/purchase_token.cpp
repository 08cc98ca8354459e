#include "funnel/purchase_token.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/parts.hpp"

namespace doorbuster {

namespace {

constexpr uint8_t version = 2;
constexpr size_t signed_at = 1 + 2;  // version and key id say how to verify the rest
constexpr size_t mac_at = 1 + 2 + 8 + 8 + 16, mac_bytes = 16, token_bytes = mac_at + mac_bytes;
static_assert(token_bytes * 4 / 3 == ItemTokens::text_size && token_bytes % 3 == 0);
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

Parts message_of(std::span<const char, token_bytes> token, const BuyerId& buyer) {
    Parts message;
    message.text({token.data() + signed_at, mac_at - signed_at}).text(buyer.view());
    return message;
}

}  // namespace

ItemTokens PurchaseTokens::of(const SaleId& sale, const ItemId& item) const {
    return ItemTokens(keys_.about(Parts().text(sale.view()).text(item.view()).view()));
}

std::string ItemTokens::mint(const PurchaseId& purchase, const BuyerId& buyer,
                             const Validity& validity) const {
    std::array<char, token_bytes> bytes;
    const auto key = keys_.current_id();
    bytes[0] = version;
    bytes[1] = static_cast<char>(key[0]);
    bytes[2] = static_cast<char>(key[1]);
    put_ms(bytes.data() + 3, validity.issued_at);
    put_ms(bytes.data() + 11, validity.expires_at);
    std::memcpy(bytes.data() + 19, purchase.bytes.data(), purchase.bytes.size());
    const Digest mac = keys_.sign(message_of(bytes, buyer).view());
    std::memcpy(bytes.data() + mac_at, mac.data(), mac_bytes);
    return base64url({bytes.data(), bytes.size()});
}

Result<ItemTokens::Opened, TokenFault> ItemTokens::verify(std::string_view text, const BuyerId& buyer) const {
    if (text.size() != text_size) return TokenFault::malformed;
    std::array<char, token_bytes> bytes;
    if (!base64url_decode(text, bytes) || bytes[0] != version) return TokenFault::malformed;

    const SigningKeys::KeyId key = {static_cast<uint8_t>(bytes[1]), static_cast<uint8_t>(bytes[2])};
    if (!keys_.verifies(key, message_of(bytes, buyer).view(), {bytes.data() + mac_at, mac_bytes})) {
        return TokenFault::foreign;
    }
    Opened opened{
        .purchase = {},
        .validity = {.issued_at = get_ms(bytes.data() + 3), .expires_at = get_ms(bytes.data() + 11)}};
    std::memcpy(opened.purchase.bytes.data(), bytes.data() + 19, opened.purchase.bytes.size());
    return opened;
}

Result<PurchaseId, TokenFault> ItemTokens::open(std::string_view text, const BuyerId& buyer,
                                                Instant now) const {
    const auto opened = verify(text, buyer);
    if (!opened) return opened.error();
    if (opened->validity.issued_at > now + skew_max) return TokenFault::future_dated;
    if (now >= opened->validity.expires_at) return TokenFault::expired;
    return opened->purchase;
}

std::optional<PurchaseId> ItemTokens::named_purchase(std::string_view text, const BuyerId& buyer) const {
    const auto opened = verify(text, buyer);
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
