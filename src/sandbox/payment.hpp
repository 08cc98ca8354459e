// Payment: what the sandbox provider knows of one attempt to pay.
//
// Thread safety: values.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace doorbuster::sandbox {

enum class PaymentState : uint8_t { created, declined, captured, voided, refunded };
constexpr size_t payment_states = 5;

std::string_view word_of(PaymentState);
std::optional<PaymentState> parse_state(std::string_view word);

// What the merchant asks for.
struct Intent {
    int64_t amount_minor = 0;
    std::string currency;   // ISO 4217
    std::string reference;  // the merchant's order
    std::string return_url = {};

    friend bool operator==(const Intent&, const Intent&) = default;
};

struct Payment {
    std::string key;  // the merchant's, and its idempotency key
    PaymentState state = PaymentState::created;
    Intent intent{};  // empty where a key was voided before anybody asked for money: a tombstone
    int64_t captured_minor = 0;
    std::string captured_currency{};
    uint64_t version = 0;  // counts every change

    friend bool operator==(const Payment&, const Payment&) = default;
};

constexpr size_t key_bytes_max = 64;
bool is_key(std::string_view text);  // [A-Za-z0-9_-]{1,64}

// As the merchant sees it.
boost::json::object payment_json(const Payment&, std::string_view public_url);

}  // namespace doorbuster::sandbox
