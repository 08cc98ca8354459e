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
    static const ItemTokens of_item = tokens.of(sale, item);
    CHECK(!of_item.open(input, buyer, now) && !of_item.named_purchase(input, buyer));

    PurchaseId purchase{};
    std::copy_n(input.begin(), std::min(input.size(), purchase.bytes.size()), purchase.bytes.begin());
    const std::string good =
        of_item.mint(purchase, buyer, {.issued_at = now, .expires_at = now + std::chrono::minutes(10)});
    CHECK(*of_item.open(good, buyer, now) == purchase);

    std::string changed = good;
    for (size_t i = 0; i < std::min(input.size(), changed.size()); ++i) {
        changed[i] = static_cast<char>(changed[i] ^ input[i]);
    }
    if (changed != good) CHECK(!of_item.open(changed, buyer, now));
    if (!input.empty()) CHECK(!of_item.open(good + std::string(input), buyer, now));
    if (const auto other = BuyerId::from(input); other && *other != buyer) {
        CHECK(!of_item.open(good, *other, now));
    }
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    doorbuster::fuzz(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
