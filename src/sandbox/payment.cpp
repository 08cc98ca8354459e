#include "sandbox/payment.hpp"

#include <algorithm>
#include <array>

namespace doorbuster::sandbox {

namespace {

constexpr std::array<std::string_view, payment_states> state_words{"created", "declined", "captured",
                                                                   "voided", "refunded"};

}  // namespace

std::string_view word_of(PaymentState state) {
    return state_words[static_cast<size_t>(state)];
}

std::optional<PaymentState> parse_state(std::string_view word) {
    const auto found = std::find(state_words.begin(), state_words.end(), word);
    if (found == state_words.end()) return std::nullopt;
    return static_cast<PaymentState>(found - state_words.begin());
}

bool is_key(std::string_view text) {
    return !text.empty() && text.size() <= key_bytes_max && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_';
    });
}

boost::json::object payment_json(const Payment& payment, std::string_view public_url) {
    return {{"key", payment.key},
            {"state", word_of(payment.state)},
            {"amount_minor", payment.intent.amount_minor},
            {"currency", payment.intent.currency},
            {"captured_minor", payment.captured_minor},
            {"captured_currency", payment.captured_currency},
            {"reference", payment.intent.reference},
            {"payment_url", std::string(public_url) + "/pay/" + payment.key + "?lang={lang}"},
            {"version", payment.version}};
}

}  // namespace doorbuster::sandbox
