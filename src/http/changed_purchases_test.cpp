#include "http/changed_purchases.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

PurchaseId purchase(uint8_t number) {
    PurchaseId id;
    id.bytes[0] = number;
    return id;
}

TEST(ChangedPurchases, TheTakerIsCalledOnceForAllThatGathers) {
    ChangedPurchases changed;
    const std::vector<PurchaseId> first{purchase(1), purchase(2)}, second{purchase(3)};
    EXPECT_FALSE(changed.put({}));
    EXPECT_TRUE(changed.put(first));
    EXPECT_FALSE(changed.put(second));

    std::vector<PurchaseId> taken;
    EXPECT_TRUE(changed.take(taken));
    EXPECT_EQ(taken, (std::vector<PurchaseId>{purchase(1), purchase(2), purchase(3)}));
    EXPECT_TRUE(changed.put(second)) << "what comes after it was taken needs another call";
}

TEST(ChangedPurchases, TooManyBecomeALookAtEverything) {
    ChangedPurchases changed;
    const std::vector<PurchaseId> most(ChangedPurchases::ids_max), one(1);
    EXPECT_TRUE(changed.put(most));
    EXPECT_FALSE(changed.put(one));
    EXPECT_FALSE(changed.put(one));

    std::vector<PurchaseId> taken;
    EXPECT_FALSE(changed.take(taken));
    EXPECT_TRUE(taken.empty());
    EXPECT_TRUE(changed.put(one));
    EXPECT_TRUE(changed.take(taken));
    EXPECT_EQ(taken.size(), 1u);
}

}  // namespace
}  // namespace doorbuster
