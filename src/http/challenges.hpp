// Challenges: hands out human checks.
//
//   POST /v1/sales/{sale}/challenges   {} or {"kind":"pow"|"image"}; without a kind, what is asked
//   GET  /v1/sales/{sale}/challenges   always proof of work, in the form that the ALTCHA widget reads
//
// Nothing is stored for a check and nothing is drawn for it: a picture comes from the pool. With
// a picture a proof of work is always offered beside it, for those who cannot see one.
//
// Thread safety: none; one per gate thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/crypto.hpp"
#include "funnel/human_check.hpp"
#include "funnel/image_check.hpp"
#include "funnel/image_pool.hpp"
#include "funnel/pow_check.hpp"
#include "funnel/pow_difficulty.hpp"
#include "http/check_reply.hpp"
#include "http/request.hpp"

namespace doorbuster {

class Challenges {
public:
    using Fill = void (*)(std::span<uint8_t>);

    explicit Challenges(ImagePool& images, Fill fill = &fill_random) : images_(images), fill_(fill) {}

    struct Ask {
        const Request& request;
        const ListedSale& listed;
        const Who& who;
        const PowChecks& pow;
        const ImageChecks& image;
        uint32_t pow_number_max;       // the server's, where the sale has none of its own
        double pow_target_per_second;  // this gate thread's share
        unsigned overload_level;       // 0: none
        Instant now;
        Uptime uptime;
    };
    CheckReply make(const Ask&);

private:
    PowChecks::Challenge make_pow(const Ask&);
    CheckReply make_pow_reply(const Ask&);
    CheckReply make_image(const Ask&);

    ImagePool& images_;
    const Fill fill_;
    PowDifficulty difficulty_;
    std::string body_;  // kept for its room
};

}  // namespace doorbuster
