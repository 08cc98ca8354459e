// Purchase tokens: the input as one, and as what is changed in a good one.
//
// Only what we signed opens, and only unchanged: one bit of difference anywhere, and it is
// nobody's token.
#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "funnel/purchase_token.hpp"

namespace doorbuster {
namespace {

const Instant now = from_ms(1'800'000'000'000);
const SaleId sale = *SaleId::from("drop");
const ItemId item = *ItemId::from("phone");
const BuyerId buyer = *BuyerId::from("alice");

void fuzz(std::string_view input) {
    static const PurchaseTokens tokens({.current = "the secret of today, long enough to be one",
                                        .previous = "the secret of before, long enough to be one"});
    const TokenScope scope{.sale = sale, .item = item, .buyer = buyer};
    CHECK(!tokens.open(input, scope, now) && !tokens.named_purchase(input, scope));

    PurchaseId purchase{};
    std::copy_n(input.begin(), std::min(input.size(), purchase.bytes.size()), purchase.bytes.begin());
    const std::string good =
        tokens.mint(purchase, scope, {.issued_at = now, .expires_at = now + std::chrono::minutes(10)});
    CHECK(*tokens.open(good, scope, now) == purchase);

    std::string changed = good;
    for (size_t i = 0; i < std::min(input.size(), changed.size()); ++i) {
        changed[i] = static_cast<char>(changed[i] ^ input[i]);
    }
    if (changed != good) CHECK(!tokens.open(changed, scope, now));
    if (!input.empty()) CHECK(!tokens.open(good + std::string(input), scope, now));
    if (const auto other = BuyerId::from(input); other && *other != buyer) {
        CHECK(!tokens.open(good, {.sale = sale, .item = item, .buyer = *other}, now));
    }
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    doorbuster::fuzz(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
