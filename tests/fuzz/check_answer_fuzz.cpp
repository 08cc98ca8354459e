// Answers to human checks, as POST /v1/sales/{sale}/tokens meets them.
//
// The input is the body itself, the widget's payload, and the JSON inside that payload. None of
// them was made by us, so none may ever become a token. Not looked at here: that a solved check
// becomes one, once (tokens_test), and an input that solves a check of ours.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/check.hpp"
#include "http/tokens.hpp"

namespace doorbuster {
namespace {

const Instant now = from_ms(1'800'000'000'000);
const SigningKeys::Secrets secrets{.current = "the secret of today, long enough to be one"};

struct World {
    PowChecks pow{secrets};
    ImageChecks image{secrets};
    PurchaseTokens tokens{secrets};
    Burned burned{1024};
    Tokens endpoint{burned};
    ListedSale listed{};
    Who who{};

    World() {
        listed.state = SaleState::open;
        listed.sale.id = *SaleId::from("drop");
        listed.sale.human_check = HumanCheck::image;
        listed.sale.opens_at = now - std::chrono::hours(1);
        listed.sale.closes_at = now + std::chrono::hours(1);
        Item phone;
        phone.id = *ItemId::from("phone");
        listed.items.push_back({.item = phone, .slot = {}, .board = nullptr});
        who.buyer = *BuyerId::from("alice");
    }

    bool passes(std::string_view body) {
        Request request;
        request.method = Method::post;
        request.body = body;
        const CheckReply reply = endpoint
                                     .answer({.request = request,
                                              .listed = listed,
                                              .who = who,
                                              .pow = pow,
                                              .image = image,
                                              .tokens = tokens,
                                              .token_life = std::chrono::seconds(600),
                                              .now = now})
                                     .reply;
        return std::holds_alternative<std::string_view>(reply);
    }
};

void fuzz(const std::string& text) {
    static World world;
    CHECK(!world.passes(text));
    CHECK(!world.passes(fmt::format(R"({{"item":"phone","answer":"{}"}})", base64(text))));
    const CheckScope scope{.sale = world.listed.sale.id, .buyer = world.who.buyer};
    const std::string heap(text);
    CHECK(!world.pow.read(heap, scope, now) && !world.image.read(heap, heap, scope, now));

    // A check of ours with the input as its answer: judged, never a fault of its reader.
    const auto made = world.image.make("ABC234", scope, {}, now);
    const auto answered = world.image.read(made.id, heap, scope, now);
    CHECK(answered.has_value());
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    doorbuster::fuzz(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
