// Tokens: turns an answered check into a purchase token.
//
//   POST /v1/sales/{sale}/tokens   {"item","challenge","answer"} -> {"token","expires_at",…}
//
// For a picture `challenge` is the check's id and `answer` what was read; for proof of work
// `answer` is the widget's payload, and `challenge` may be left out.
//
// The first answer burns the check, right or wrong, before it is judged: an answer sent a hundred
// times at once is one try. Whatever is wrong with a check is the same refusal, so that a guess
// teaches nothing.
//
// Where several processes serve, another one may have burned the check before: whoever is told that
// this answer burned it here must ask the others before the reply leaves.
//
// Thread safety: none; one per gate thread. The burned are shared by all of them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "funnel/burned.hpp"
#include "funnel/human_check.hpp"
#include "funnel/image_check.hpp"
#include "funnel/pow_check.hpp"
#include "funnel/purchase_token.hpp"
#include "http/check_reply.hpp"
#include "http/request.hpp"

namespace doorbuster {

class Tokens {
public:
    explicit Tokens(Burned& burned) : burned_(burned) {}

    struct Ask {
        const Request& request;
        const ListedSale& listed;
        const Who& who;
        const PowChecks& pow;
        const ImageChecks& image;
        const PurchaseTokens& tokens;
        std::chrono::seconds token_life;
        Instant now;
    };
    struct BurnedCheck {
        uint64_t mark;
        Instant expires_at;
    };
    struct Answered {
        CheckReply reply;
        std::optional<BurnedCheck> burned = {};  // by this answer, right or wrong
    };
    Answered answer(const Ask&);

private:
    struct Body;
    Answered answer_pow(const Ask&, const Body&, const ItemId&);
    Answered answer_image(const Ask&, const Body&, const ItemId&);
    struct Judged {
        std::string_view id;
        BurnedCheck check;
        bool is_right;
    };
    Answered settle(const Ask&, const ItemId&, const Judged&);
    CheckReply mint(const Ask&, const ItemId&, std::string_view check);

    Burned& burned_;
    std::string body_;  // kept for its room
};

}  // namespace doorbuster
