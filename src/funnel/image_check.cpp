#include "funnel/image_check.hpp"

#include <cstring>

#include "base/parts.hpp"

namespace doorbuster {

namespace {

constexpr uint8_t version = 1;
constexpr size_t mac_bytes = SigningKeys::mac_bytes_min;
constexpr size_t expires_at_at = 1 + 2 + 16, answer_mac_at = expires_at_at + 8,
                 mac_at = answer_mac_at + mac_bytes, id_bytes = mac_at + mac_bytes;
static_assert((id_bytes * 8 + 5) / 6 == ImageChecks::id_size);

// `head`: all that stands before the answer's mac, the nonce among it.
Parts answer_message(std::string_view head, std::string_view answer) {
    Parts message;
    message.text("answer").text(head).text(answer);
    return message;
}

Parts id_message(std::string_view fields, const CheckScope& scope) {
    Parts message;
    message.text("id").text(fields).text(scope.sale.view()).text(scope.buyer.view());
    return message;
}

}  // namespace

ImageChecks::Made ImageChecks::make(std::string_view answer, const CheckScope& scope, const Nonce& nonce,
                                    Instant now) const {
    const Instant expires_at = now + check_life;
    std::array<char, id_bytes> bytes;
    const auto key = keys_.current_id();
    bytes[0] = version;
    bytes[1] = static_cast<char>(key[0]);
    bytes[2] = static_cast<char>(key[1]);
    std::memcpy(bytes.data() + 3, nonce.data(), nonce.size());
    const auto expires_ms = static_cast<uint64_t>(to_ms(expires_at));
    for (size_t i = 0; i < 8; ++i) bytes[expires_at_at + i] = static_cast<char>(expires_ms >> (56 - 8 * i));

    const ImageText text = ImageText::folded(answer);
    const Digest answer_mac = keys_.sign(answer_message({bytes.data(), answer_mac_at}, text.view()).view());
    std::memcpy(bytes.data() + answer_mac_at, answer_mac.data(), mac_bytes);
    const Digest mac = keys_.sign(id_message({bytes.data(), mac_at}, scope).view());
    std::memcpy(bytes.data() + mac_at, mac.data(), mac_bytes);
    return {.id = base64url({bytes.data(), bytes.size()}), .expires_at = expires_at};
}

Result<ImageChecks::Answered, CheckFault> ImageChecks::read(std::string_view id, std::string_view answer,
                                                            const CheckScope& scope, Instant now) const {
    if (id.size() != id_size) return CheckFault::malformed;
    std::array<char, id_bytes> bytes;
    if (!base64url_decode(id, bytes) || bytes[0] != version) return CheckFault::malformed;

    const SigningKeys::KeyId key = {static_cast<uint8_t>(bytes[1]), static_cast<uint8_t>(bytes[2])};
    const std::string_view mac(bytes.data() + mac_at, mac_bytes);
    if (!keys_.verifies(key, id_message({bytes.data(), mac_at}, scope).view(), mac))
        return CheckFault::foreign;

    uint64_t expires_ms = 0;
    for (size_t i = 0; i < 8; ++i)
        expires_ms = expires_ms << 8 | static_cast<uint8_t>(bytes[expires_at_at + i]);
    Answered answered{.mark = 0, .expires_at = from_ms(static_cast<int64_t>(expires_ms)), .is_right = false};
    if (now >= answered.expires_at) return CheckFault::expired;

    std::memcpy(&answered.mark, mac.data(), sizeof answered.mark);
    const ImageText text = ImageText::folded(answer);
    answered.is_right = text.size == image_characters &&
                        keys_.verifies(key, answer_message({bytes.data(), answer_mac_at}, text.view()).view(),
                                       {bytes.data() + answer_mac_at, mac_bytes});
    return answered;
}

}  // namespace doorbuster
