// PowChecks: proof of work in ALTCHA's first protocol, so that its public widget solves it.
//
// The server picks a number and tells SHA-256(salt + number); the client tries all numbers until
// one fits. Nothing is stored: everything the server must know again stands in the salt, and the
// signature covers it, together with the buyer and the sale.
//
//   salt = nonce, 24 hex digits ?expires=SECONDS&max=NUMBER&key=KEYID&
//
// The salt ends with a delimiter: without it a salt that ends in "…=12" with the number 34 and one
// that ends in "…=1" with 234 have the same hash, and a solved check could be turned into another.
//
// Thread safety: const calls from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "funnel/signing_keys.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

// Whom a check is for.
struct CheckScope {
    const SaleId& sale;
    const BuyerId& buyer;
};

constexpr std::chrono::seconds check_life{300};

// What became of an answer that was read and verified, before it is judged right or wrong.
enum class CheckFault : uint8_t {
    malformed,  // no answer at all
    foreign,    // not ours, or another buyer's, or another sale's
    expired,
};

class PowChecks {
public:
    static constexpr std::string_view algorithm = "SHA-256";
    static constexpr size_t answer_bytes_max = 1024;
    static constexpr uint32_t number_max_max = 100'000'000;

    explicit PowChecks(const SigningKeys::Secrets& secrets) : keys_(secrets, "pow check") {}

    // Randomness, handed in: fresh for each check.
    struct Seed {
        std::array<uint8_t, 12> nonce;
        uint64_t number;  // any; brought into range
    };
    struct Challenge {
        std::array<char, 64> challenge, signature;  // hexadecimal; the signature is also its id
        std::array<char, 96> salt_bytes;
        size_t salt_size = 0;
        uint32_t number_max = 0;
        Instant expires_at;

        std::string_view salt() const { return {salt_bytes.data(), salt_size}; }
        std::string_view id() const { return {signature.data(), signature.size()}; }
    };
    // REQUIRES: 1 <= number_max <= number_max_max.
    [[nodiscard]] Challenge make(const CheckScope&, const Seed&, uint32_t number_max, Instant now) const;

    // A verified check, with an answer that is right or wrong.
    struct Answered {
        std::array<char, 64> signature;
        uint64_t mark;  // for Burned
        Instant expires_at;
        bool is_right;

        std::string_view id() const { return {signature.data(), signature.size()}; }
    };
    // `payload`: base64 of {"algorithm","challenge","number","salt","signature",…}, as the widget
    // sends it. Allocates nothing.
    [[nodiscard]] Result<Answered, CheckFault> read(std::string_view payload, const CheckScope&,
                                                    Instant now) const;

private:
    const SigningKeys keys_;
};

}  // namespace doorbuster
