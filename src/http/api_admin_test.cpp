#include "http/api_admin.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(AdminKey, AdmitsItsBearerAlone) {
    EXPECT_TRUE(is_admin("Bearer the-key", "the-key"));
    EXPECT_TRUE(is_admin("bEARER the-key", "the-key"));
    for (const char* authorization : {"", "Bearer", "Bearer ", "Bearer the-ke", "Bearer the-keyx",
                                      "Bearer  the-key", "Bearer The-key", "Basic the-key", "the-key"}) {
        EXPECT_FALSE(is_admin(authorization, "the-key")) << authorization;
    }
}

TEST(AdminKey, NoKeyAdmitsNobody) {
    EXPECT_FALSE(is_admin("Bearer ", ""));
    EXPECT_FALSE(is_admin("", ""));
}

}  // namespace
}  // namespace doorbuster
