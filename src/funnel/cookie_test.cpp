#include "funnel/cookie.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Bearer, FindsTheTokenWhateverTheCaseOfTheScheme) {
    for (const char* header : {"Bearer t", "bearer t", "BEARER t", "Bearer   t"}) {
        EXPECT_EQ(bearer_token(header), "t") << header;
    }
}

TEST(Bearer, MissesATokenThatIsNotThere) {
    for (const char* header : {"", "Bearer", "Bearer ", "Bearer    ", "Basic YWxpY2U6eA==", "Bearertoken"}) {
        EXPECT_EQ(bearer_token(header), "") << header;
    }
}

TEST(Cookie, FindsItsValueAmongOthers) {
    EXPECT_EQ(cookie_value("buyer=t", "buyer"), "t");
    EXPECT_EQ(cookie_value("a=1; buyer=t; b=2", "buyer"), "t");
    EXPECT_EQ(cookie_value("a=1;buyer=t", "buyer"), "t");
    EXPECT_EQ(cookie_value(";; a ; =x;buyer = t ;", "buyer"), "t");
    EXPECT_EQ(cookie_value("buyer=a=b", "buyer"), "a=b");
}

TEST(Cookie, IsNotFoundInsideAnother) {
    for (const char* header :
         {"", "buyer", "xbuyer=t", "buyerx=t", "a=buyer=t", "Buyer=t", "buyer=", "a=1"}) {
        EXPECT_EQ(cookie_value(header, "buyer"), "") << header;
    }
}

TEST(Cookie, ThatStandsThereTwiceIsNobodys) {
    EXPECT_EQ(cookie_value("buyer=mine; buyer=planted", "buyer"), "");
    EXPECT_EQ(cookie_value("buyer=; buyer=planted", "buyer"), "");
}

TEST(PresentedToken, IsTheHeadersIfThereIsOne) {
    const auto both = presented_token("Bearer h", "buyer=c", "buyer");
    EXPECT_EQ(both.token, "h");
    EXPECT_FALSE(both.is_from_cookie);
}

TEST(PresentedToken, OfAnUnusableHeaderIsNotReplacedByTheCookie) {
    EXPECT_EQ(presented_token("Basic h", "buyer=c", "buyer").token, "");
    EXPECT_EQ(presented_token("Bearer ", "buyer=c", "buyer").token, "");
}

TEST(PresentedToken, IsTheCookiesWithoutAHeader) {
    const auto cookie = presented_token("", "buyer=c", "buyer");
    EXPECT_EQ(cookie.token, "c");
    EXPECT_TRUE(cookie.is_from_cookie);
    EXPECT_EQ(presented_token("", "=c", "").token, "") << "cookies are off";
}

}  // namespace
}  // namespace doorbuster
