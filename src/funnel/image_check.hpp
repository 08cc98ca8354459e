// ImageChecks: six characters in a picture, typed back.
//
// Nothing is stored: the id that travels with the picture holds a keyed hash of the answer, and a
// signature over that, the buyer and the sale. The signature is judged before the answer, so that
// a wrong answer to a check of ours can be told from garbage: the former burns the check, the
// latter must not fill the table of the burned.
//
//   id = base64url( version 1 | key id 2 | nonce 16 | expires_at_ms 8 | answer mac 16 | mac 16 )
//
// The same picture may be handed out twice when the pool is dry; the nonce still makes two checks.
//
// Thread safety: const calls from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "funnel/image_text.hpp"
#include "funnel/pow_check.hpp"
#include "funnel/signing_keys.hpp"

namespace doorbuster {

class ImageChecks {
public:
    static constexpr size_t id_size = 79;
    using Nonce = std::array<uint8_t, 16>;

    explicit ImageChecks(const SigningKeys::Secrets& secrets) : keys_(secrets, "image check") {}

    struct Made {
        std::string id;
        Instant expires_at;
    };
    [[nodiscard]] Made make(std::string_view answer, const CheckScope&, const Nonce&, Instant now) const;

    struct Answered {
        uint64_t mark;  // for Burned
        Instant expires_at;
        bool is_right;
    };
    [[nodiscard]] Result<Answered, CheckFault> read(std::string_view id, std::string_view answer,
                                                    const CheckScope&, Instant now) const;

private:
    const SigningKeys keys_;
};

}  // namespace doorbuster
