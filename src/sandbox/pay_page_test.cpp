#include "sandbox/pay_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "page/shell.hpp"
#include "sandbox/testing.hpp"

namespace doorbuster::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using enum PaymentState;

Payment payment(PaymentState state) {
    Payment made{.key = "k-1", .state = state, .intent = testing::intent(), .version = 1};
    made.intent.return_url = "https://shop.example/orders/1?a=1&b=2";
    return made;
}

TEST(PayPage, OffersWhatTheStateAllows) {
    const std::string fresh = pay_page(payment(created), Language::en);
    EXPECT_THAT(fresh, HasSubstr("CN¥19.99"));
    EXPECT_THAT(fresh, HasSubstr("order-1"));
    EXPECT_THAT(fresh, HasSubstr(">Pay CN¥19.99</button>")) << "the button says what it does";
    EXPECT_THAT(fresh, HasSubstr("action=\"/pay/k-1/capture?lang=en\""));
    EXPECT_THAT(fresh, HasSubstr("action=\"/pay/k-1/decline?lang=en\""));
    EXPECT_THAT(pay_page(payment(declined), Language::en), HasSubstr("/capture"));
    for (const PaymentState state : {captured, voided, refunded}) {
        EXPECT_THAT(pay_page(payment(state), Language::en), Not(HasSubstr("<form")));
    }
}

TEST(PayPage, LeadsBackToTheShop) {
    EXPECT_THAT(pay_page(payment(captured), Language::en),
                HasSubstr("href=\"https://shop.example/orders/1?a=1&amp;b=2\""));
    Payment alone = payment(captured);
    alone.intent.return_url.clear();
    EXPECT_THAT(pay_page(alone, Language::en), Not(HasSubstr("id=\"back\"")));
}

TEST(PayPage, EscapesWhatCameFromOutside) {
    Payment evil = payment(created);
    evil.intent.reference = "<script>alert('1')</script>";
    evil.intent.return_url = "https://x/\"><script>";
    const std::string page = pay_page(evil, Language::en);
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)"));
    EXPECT_THAT(page, HasSubstr("https://x/&quot;&gt;"));
}

TEST(PayPage, ItsPolicyAllowsItsStyleAndNoScript) {
    const std::string page = pay_page(payment(created), Language::en);
    const size_t begin = page.find("<style>") + 7, end = page.find("</style>");
    EXPECT_THAT(pay_page_policy(), HasSubstr(hash_source(page.substr(begin, end - begin))));
    EXPECT_THAT(pay_page_policy(), Not(HasSubstr("unsafe")));
    EXPECT_THAT(pay_page_policy(), HasSubstr("script-src 'none'"));
}

TEST(PayPage, OffersTheOtherLanguages) {
    const std::string page = pay_page(payment(created), Language::zh_hans);
    EXPECT_THAT(page, HasSubstr("<a href=\"?lang=en\" lang=\"en\">English</a>"));
    EXPECT_THAT(page, HasSubstr("<a href=\"?lang=zh-Hant\" lang=\"zh-Hant\">繁體中文</a>"));
    EXPECT_THAT(page, Not(HasSubstr("?lang=zh-Hans\" lang")));
}

TEST(PayPage, SpeaksThreeLanguages) {
    EXPECT_THAT(pay_page(payment(created), Language::en), HasSubstr("lang=\"en\""));
    EXPECT_THAT(pay_page(payment(created), Language::zh_hans), HasSubstr("请为您的订单付款"));
    EXPECT_THAT(pay_page(payment(created), Language::zh_hans), HasSubstr("¥19.99"));
    EXPECT_THAT(pay_page(payment(created), Language::zh_hant), HasSubstr("請為您的訂單付款"));
    EXPECT_THAT(unknown_payment_page(Language::zh_hant), HasSubstr("沒有這筆付款"));
}

TEST(PayPage, ATombstoneShowsNoAmount) {
    EXPECT_THAT(pay_page({.key = "k", .state = voided, .version = 1}, Language::en), Not(HasSubstr("<h1>")));
}

}  // namespace
}  // namespace doorbuster::sandbox
