#include "http/list_path.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(ListPath, NamesAnEntry) {
    EXPECT_EQ(entry_in("/v1/lists/block/address/203.0.113.0/24")->line(), "block address 203.0.113.0/24");
    EXPECT_EQ(entry_in("/v1/lists/block/address/203.0.113.0%2f24")->line(), "block address 203.0.113.0/24");
    EXPECT_EQ(entry_in("/v1/lists/allow/address/2001:db8::%2F32")->line(), "allow address 2001:db8::/32");
    EXPECT_EQ(entry_in("/v1/lists/allow/buyer/mr%20%25%2Fx")->line(), "allow buyer mr %/x");
}

TEST(ListPath, AnotherListOrKindIsNotFound) {
    for (const char* path : {"/v1/listsx", "/v1/lists/", "/v1/lists/block", "/v1/lists/block/address",
                             "/v1/lists/block/address/", "/v1/lists/grey/buyer/a", "/v1/lists/block/city/a",
                             "/v1/lists//buyer/a"}) {
        const auto entry = entry_in(path);
        ASSERT_FALSE(entry) << path;
        EXPECT_EQ(entry.error().code, Code::not_found) << path;
    }
}

TEST(ListPath, AValueThatIsNoneIsInvalidAndSaysWhy) {
    for (const char* path : {"/v1/lists/block/address/203.0.113.7/24", "/v1/lists/block/address/here",
                             "/v1/lists/block/buyer/a%0Ab", "/v1/lists/block/buyer/a%2"}) {
        const auto entry = entry_in(path);
        ASSERT_FALSE(entry) << path;
        EXPECT_EQ(entry.error().code, Code::invalid) << path;
        EXPECT_FALSE(entry.error().faults.at(0).detail.empty());
    }
}

}  // namespace
}  // namespace doorbuster
