// CheckEndpoints: a human check is taken, and turned into a purchase token.
//
// Where several processes serve, whoever answers a check here first waits until it is known that it was
// not answered elsewhere, and hears 503 where that cannot be known: no token leaves on a guess.
//
// Thread safety: its gate's thread.
#pragma once

#include <string_view>

#include "http/challenges.hpp"
#include "http/door.hpp"
#include "http/replies.hpp"
#include "http/sales.hpp"
#include "http/tokens.hpp"

namespace doorbuster {

class CheckEndpoints {
public:
    CheckEndpoints(Services& services, Replies& replies, Door& door, SalesEndpoints& sales);

    void challenge(Exchange&, std::string_view sale);
    void token(Exchange&, std::string_view sale);

private:
    // Calls `answer` with the sale and who asks, unless a stage refuses.
    template <class Answer>
    void with_sale(Exchange&, std::string_view sale, Answer answer);
    void send(Exchange&, const BuyerId&, const CheckReply&);
    void ask_others(Exchange&, const BuyerId&, const Tokens::Answered&, Instant now);
    void asked_others(Exchange&, const BuyerId&, const CheckReply& if_first, MarkOutcome);

    Services& services_;
    Replies& replies_;
    Door& door_;
    SalesEndpoints& sales_;
    Challenges challenges_;
    Tokens tokens_;
};

}  // namespace doorbuster
