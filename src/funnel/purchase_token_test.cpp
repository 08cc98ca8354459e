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
        return tokens.mint(purchase(7), alice, {.issued_at = issued_at, .expires_at = expires_at});
    }

    const PurchaseTokens all{secrets};
    const ItemTokens tokens = all.of(sale, item);
};

TEST_F(PurchaseToken, OpensForThoseItWasMadeFor) {
    const std::string text = mint();
    EXPECT_EQ(text.size(), ItemTokens::text_size);
    const auto opened = tokens.open(text, alice, t0);
    ASSERT_TRUE(opened);
    EXPECT_EQ(*opened, purchase(7));
}

TEST_F(PurchaseToken, OfAnotherSaleItemOrBuyerIsForeign) {
    const std::string text = mint();
    const SaleId other_sale("shoe-drop");
    const ItemId other_item("case");
    for (const ItemTokens& other : {all.of(other_sale, item), all.of(sale, other_item)}) {
        EXPECT_EQ(other.open(text, alice, t0).error(), TokenFault::foreign);
        EXPECT_FALSE(other.named_purchase(text, alice));
    }
    EXPECT_EQ(tokens.open(text, bob, t0).error(), TokenFault::foreign);
    EXPECT_FALSE(tokens.named_purchase(text, bob));
}

TEST_F(PurchaseToken, NothingMovesBetweenItsNames) {
    const SaleId sale_a("a"), sale_ab("ab");
    const ItemId item_bc("bc"), item_c("c");
    const std::string text =
        all.of(sale_a, item_bc).mint(purchase(7), alice, {.issued_at = t0, .expires_at = t0 + 1min});
    EXPECT_TRUE(all.of(sale_a, item_bc).open(text, alice, t0));
    EXPECT_FALSE(all.of(sale_ab, item_c).open(text, alice, t0));
}

TEST_F(PurchaseToken, EndsAtItsExpiry) {
    const std::string text = mint();
    EXPECT_TRUE(tokens.open(text, alice, t0 + 10min - 1ms));
    EXPECT_EQ(tokens.open(text, alice, t0 + 10min).error(), TokenFault::expired);
}

TEST_F(PurchaseToken, FromTheFutureIsRefusedBeyondTheSkew) {
    EXPECT_TRUE(tokens.open(mint(t0 + 30s), alice, t0));
    EXPECT_EQ(tokens.open(mint(t0 + 30s + 1ms), alice, t0).error(), TokenFault::future_dated);
}

TEST_F(PurchaseToken, AnExpiredOneStillNamesItsPurchase) {
    EXPECT_EQ(tokens.named_purchase(mint(), alice), purchase(7));
}

TEST_F(PurchaseToken, EveryChangedCharacterIsNoticed) {
    const std::string text = mint();
    for (size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(tokens.open(other, alice, t0)) << i;
    }
}

TEST_F(PurchaseToken, WhatIsNoTokenIsMalformed) {
    for (const std::string& text : {std::string(), std::string("x"), std::string(67, 'A'),
                                    std::string(69, 'A'), std::string(5000, 'A'), std::string(68, '*')}) {
        EXPECT_EQ(tokens.open(text, alice, t0).error(), TokenFault::malformed) << text.size();
    }
    std::string text = mint();
    for (const char* version : {"AA", "AQ", "Aw"}) {  // 0, 1 and 3
        text.replace(0, 2, version);
        EXPECT_EQ(tokens.open(text, alice, t0).error(), TokenFault::malformed) << version;
    }
}

TEST_F(PurchaseToken, SurvivesOneRotationOfTheSecret) {
    const std::string text = mint();
    const PurchaseTokens during({.current = std::string(32, 't'), .previous = secrets.current});
    const PurchaseTokens after({.current = std::string(32, 't')});
    EXPECT_TRUE(during.of(sale, item).open(text, alice, t0));
    EXPECT_EQ(after.of(sale, item).open(text, alice, t0).error(), TokenFault::foreign);
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
