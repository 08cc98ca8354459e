#include "http/purchases.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(IdempotencyKey, IsVisibleAsciiOfABoundedLength) {
    EXPECT_TRUE(is_idempotency_key("k"));
    EXPECT_TRUE(is_idempotency_key(std::string(255, '~')));
    for (const std::string& key :
         {std::string(), std::string(256, 'x'), std::string("a b"), std::string("a\tb"),
          std::string("gr\xc3\xbcn"), std::string("\x7f"), std::string(1, '\0')}) {
        EXPECT_FALSE(is_idempotency_key(key)) << key;
    }
}

}  // namespace
}  // namespace doorbuster
