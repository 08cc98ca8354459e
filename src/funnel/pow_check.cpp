#include "funnel/pow_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/parts.hpp"
#include "funnel/flat_object.hpp"

namespace doorbuster {

namespace {

constexpr size_t nonce_digits = 24;

struct Salt {
    int64_t expires_s = 0;
    uint32_t number_max = 0;
    SigningKeys::KeyId key{};
};

// Takes `word` off the beginning.
bool skip(std::string_view& rest, std::string_view word) {
    if (rest.substr(0, word.size()) != word) return false;
    rest.remove_prefix(word.size());
    return true;
}

template <class Number>
bool take_number(std::string_view& rest, Number& into, int base = 10) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), into, base);
    if (error != std::errc{}) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return true;
}

// Reads what make() writes. What else it might accept is no danger: the signature covers the text.
std::optional<Salt> read_salt(std::string_view text) {
    if (text.size() < nonce_digits) return std::nullopt;
    Salt salt;
    uint16_t key = 0;
    std::string_view rest = text.substr(nonce_digits);
    if (!skip(rest, "?expires=") || !take_number(rest, salt.expires_s)) return std::nullopt;
    if (!skip(rest, "&max=") || !take_number(rest, salt.number_max)) return std::nullopt;
    if (!skip(rest, "&key=") || !take_number(rest, key, 16)) return std::nullopt;
    if (rest != "&") return std::nullopt;
    salt.key = {static_cast<uint8_t>(key >> 8), static_cast<uint8_t>(key & 255)};
    return salt;
}

Parts message_of(std::string_view challenge, std::string_view salt, const CheckScope& scope) {
    Parts message;
    message.text(challenge).text(salt).text(scope.sale.view()).text(scope.buyer.view());
    return message;
}

std::array<char, 64> hash_of(std::string_view salt, uint64_t number) {
    std::array<char, 128> bytes;
    const auto end = fmt::format_to_n(bytes.data(), bytes.size(), "{}{}", salt, number);
    CHECK(end.size <= bytes.size());
    return hex_of(sha256({bytes.data(), end.size}));
}

std::string_view view(const std::array<char, 64>& text) {
    return {text.data(), text.size()};
}

// Lower case only: a check has one id, however it is written.
std::optional<Digest> digest_of_hex(std::string_view text) {
    Digest digest;
    if (text.size() != 2 * digest.size()) return std::nullopt;
    for (size_t i = 0; i < digest.size(); ++i) {
        std::string_view pair = text.substr(2 * i, 2);
        const bool lower = std::all_of(pair.begin(), pair.end(), [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        });
        if (!lower || !take_number(pair, digest[i], 16)) return std::nullopt;
    }
    return digest;
}

}  // namespace

PowChecks::Challenge PowChecks::make(const CheckScope& scope, const Seed& seed, uint32_t number_max,
                                     Instant now) const {
    CHECK(number_max >= 1 && number_max <= number_max_max);
    Challenge made;
    made.number_max = number_max;
    // To the whole second: that is what the salt says.
    const int64_t expires_s = to_ms(now + check_life) / 1000;
    made.expires_at = from_ms(expires_s * 1000);

    const auto key = keys_.current_id();
    const auto written = fmt::format_to_n(made.salt_bytes.data(), made.salt_bytes.size(),
                                          "{:02x}?expires={}&max={}&key={:02x}{:02x}&",
                                          fmt::join(seed.nonce, ""), expires_s, number_max, key[0], key[1]);
    CHECK(written.size <= made.salt_bytes.size());
    made.salt_size = written.size;

    made.challenge = hash_of(made.salt(), seed.number % (uint64_t{number_max} + 1));
    made.signature = hex_of(keys_.sign(message_of(view(made.challenge), made.salt(), scope).view()));
    return made;
}

Result<PowChecks::Answered, CheckFault> PowChecks::read(std::string_view payload, const CheckScope& scope,
                                                        Instant now) const {
    if (payload.size() > answer_bytes_max) return CheckFault::malformed;
    std::array<char, answer_bytes_max> bytes;
    const auto json = base64_decode(payload, bytes);
    if (!json) return CheckFault::malformed;

    std::array<char, 16> algorithm_room;
    std::array<char, 64> challenge_room, signature_room;
    std::array<char, 96> salt_room;
    std::array<char, flat_name_bytes_max> names;
    std::array<FlatField, 5> fields{FlatField{.name = "algorithm", .room = algorithm_room},
                                    FlatField{.name = "challenge", .room = challenge_room},
                                    FlatField{.name = "signature", .room = signature_room},
                                    FlatField{.name = "salt", .room = salt_room},
                                    FlatField{.name = "number", .room = {}}};
    // The widget adds fields of its own, such as how long it took: they mean nothing here.
    if (read_flat_object(*json, fields, names).fault != FlatFault::none) return CheckFault::malformed;
    const auto& [algorithm_given, challenge, signature, salt_text, number] = fields;
    if (algorithm_given.value != algorithm) return CheckFault::malformed;
    const auto salt = read_salt(salt_text.value);
    const auto mac = digest_of_hex(signature.value);
    if (!salt || !mac) return CheckFault::malformed;

    if (!keys_.verifies(salt->key, message_of(challenge.value, salt_text.value, scope).view(),
                        bytes_of(*mac))) {
        return CheckFault::foreign;
    }
    // Ours, so what the salt says is what we wrote.
    const Instant expires_at = from_ms(salt->expires_s * 1000);
    if (now >= expires_at) return CheckFault::expired;

    Answered answered{.signature = signature_room, .mark = 0, .expires_at = expires_at, .is_right = false};
    std::memcpy(&answered.mark, mac->data(), sizeof answered.mark);
    answered.is_right =
        number.kind == FlatField::Kind::whole && number.number <= salt->number_max &&
        challenge.value == view(hash_of(salt_text.value, static_cast<uint64_t>(number.number)));
    return answered;
}

}  // namespace doorbuster
