#include "funnel/purchase_token.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

const SigningKeys::Secrets secrets{.current = std::string(32, 's')};
const SaleId sale("phone-drop");
const ItemId item("phone");

class PurchaseToken : public ::testing::Test {
protected:
    std::string mint(Instant issued_at = t0, Instant expires_at = t0 + 10min) const {
        return tokens.mint(purchase(7), scope, {.issued_at = issued_at, .expires_at = expires_at});
    }

    const PurchaseTokens tokens{secrets};
    const TokenScope scope{.sale = sale, .item = item, .buyer = alice};
};

TEST_F(PurchaseToken, OpensForThoseItWasMadeFor) {
    const std::string text = mint();
    EXPECT_EQ(text.size(), PurchaseTokens::text_size);
    const auto opened = tokens.open(text, scope, t0);
    ASSERT_TRUE(opened);
    EXPECT_EQ(*opened, purchase(7));
}

TEST_F(PurchaseToken, OfAnotherSaleItemOrBuyerIsForeign) {
    const std::string text = mint();
    const SaleId other_sale("shoe-drop");
    const ItemId other_item("case");
    for (const TokenScope& other : {TokenScope{other_sale, item, alice}, TokenScope{sale, other_item, alice},
                                    TokenScope{sale, item, bob}}) {
        EXPECT_EQ(tokens.open(text, other, t0).error(), TokenFault::foreign);
        EXPECT_FALSE(tokens.named_purchase(text, other));
    }
}

TEST_F(PurchaseToken, NothingMovesBetweenItsNames) {
    const SaleId sale_a("a"), sale_ab("ab");
    const ItemId item_bc("bc"), item_c("c");
    const std::string text =
        tokens.mint(purchase(7), {sale_a, item_bc, alice}, {.issued_at = t0, .expires_at = t0 + 1min});
    EXPECT_TRUE(tokens.open(text, {sale_a, item_bc, alice}, t0));
    EXPECT_FALSE(tokens.open(text, {sale_ab, item_c, alice}, t0));
}

TEST_F(PurchaseToken, EndsAtItsExpiry) {
    const std::string text = mint();
    EXPECT_TRUE(tokens.open(text, scope, t0 + 10min - 1ms));
    EXPECT_EQ(tokens.open(text, scope, t0 + 10min).error(), TokenFault::expired);
}

TEST_F(PurchaseToken, FromTheFutureIsRefusedBeyondTheSkew) {
    EXPECT_TRUE(tokens.open(mint(t0 + 30s), scope, t0));
    EXPECT_EQ(tokens.open(mint(t0 + 30s + 1ms), scope, t0).error(), TokenFault::future_dated);
}

TEST_F(PurchaseToken, AnExpiredOneStillNamesItsPurchase) {
    EXPECT_EQ(tokens.named_purchase(mint(), scope), purchase(7));
}

TEST_F(PurchaseToken, EveryChangedCharacterIsNoticed) {
    const std::string text = mint();
    for (size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(tokens.open(other, scope, t0)) << i;
    }
}

TEST_F(PurchaseToken, WhatIsNoTokenIsMalformed) {
    for (const std::string& text : {std::string(), std::string("x"), std::string(67, 'A'),
                                    std::string(69, 'A'), std::string(5000, 'A'), std::string(68, '*')}) {
        EXPECT_EQ(tokens.open(text, scope, t0).error(), TokenFault::malformed) << text.size();
    }
    // Version 0.
    EXPECT_EQ(tokens.open(std::string(68, 'A'), scope, t0).error(), TokenFault::malformed);
}

TEST_F(PurchaseToken, SurvivesOneRotationOfTheSecret) {
    const std::string text = mint();
    const PurchaseTokens during({.current = std::string(32, 't'), .previous = secrets.current});
    const PurchaseTokens after({.current = std::string(32, 't')});
    EXPECT_TRUE(during.open(text, scope, t0));
    EXPECT_EQ(after.open(text, scope, t0).error(), TokenFault::foreign);
}

TEST(TokenExpiry, CountsFromTheStartAndEndsWithTheSale) {
    EXPECT_EQ(token_expiry(t0 - 10min, t0, t0 + 30min, 5min), t0 + 5min);
    EXPECT_EQ(token_expiry(t0 + 10min, t0, t0 + 30min, 5min), t0 + 15min);
    EXPECT_EQ(token_expiry(t0 + 29min, t0, t0 + 30min, 5min), t0 + 30min);
}

TEST(PurchaseOfCheck, IsTheSameForTheSameCheckAndOtherwiseAnother) {
    const ItemId other_item("case");
    const PurchaseId id = purchase_of_check("c1", {sale, item, alice});
    EXPECT_EQ(id, purchase_of_check("c1", {sale, item, alice}));
    EXPECT_NE(id, purchase_of_check("c2", {sale, item, alice}));
    EXPECT_NE(id, purchase_of_check("c1", {sale, other_item, alice}));
    EXPECT_NE(id, purchase_of_check("c1", {sale, item, bob}));
    EXPECT_NE(id, purchase_id_of(sale, item, alice, "c1")) << "a key of the buyer's own choice";
}

}  // namespace
}  // namespace doorbuster
