#include "sale/ids.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

TEST(PurchaseId, TheSameKeyOfTheSameBuyerNamesTheSamePurchase) {
    const SaleId sale("s");
    const ItemId item("i");
    EXPECT_EQ(purchase_id_of(sale, item, alice, "k"), purchase_id_of(sale, item, alice, "k"));
    EXPECT_NE(purchase_id_of(sale, item, alice, "k"), purchase_id_of(sale, item, bob, "k"));
    EXPECT_NE(purchase_id_of(sale, item, alice, "k"), purchase_id_of(sale, ItemId("j"), alice, "k"));
    EXPECT_NE(purchase_id_of(sale, item, alice, "k"), purchase_id_of(SaleId("t"), item, alice, "k"));
}

TEST(PurchaseId, PartsCannotBeMovedAcrossTheirBorders) {
    EXPECT_NE(purchase_id_of(SaleId("ab"), ItemId("c"), alice, "k"),
              purchase_id_of(SaleId("a"), ItemId("bc"), alice, "k"));
    EXPECT_NE(purchase_id_of(SaleId("a"), ItemId("b"), BuyerId("cd"), "k"),
              purchase_id_of(SaleId("a"), ItemId("b"), BuyerId("c"), "dk"));
}

TEST(PurchaseId, ReadsBackItsHex) {
    const PurchaseId id = purchase(0xdeadbeef);
    EXPECT_EQ(PurchaseId::from_hex(id.hex()), id);
    EXPECT_FALSE(PurchaseId::from_hex("xyz").has_value());
    EXPECT_FALSE(PurchaseId::from_hex(std::string(32, 'G')).has_value());
    EXPECT_FALSE(PurchaseId::from_hex(std::string(33, '0')).has_value());
}

TEST(TextId, KnowsItsBounds) {
    EXPECT_FALSE(SaleId::from("").has_value());
    EXPECT_TRUE(SaleId::from(std::string(64, 'a')).has_value());
    EXPECT_FALSE(SaleId::from(std::string(65, 'a')).has_value());
}

TEST(Slug, IsSafeInPathsAndKeys) {
    EXPECT_TRUE(is_slug("phone-drop-2"));
    for (const char* bad : {"", "-a", "a-", "A", "a b", "a/b", "é", "a_b"}) EXPECT_FALSE(is_slug(bad)) << bad;
}

}  // namespace
}  // namespace doorbuster
