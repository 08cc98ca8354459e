#include "page/page_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "page/assets.hpp"

namespace doorbuster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const SaleOnPage sale{.title = R"(Phones & "more" </title><script>)",
                      .items = {"Phone", "Case", "Cable", "Charger"},
                      .json = R"({"id":"drop","title":"</script>"})"};

TEST(PageMaker, ASalesPageHasItsData) {
    const PageDraft draft = PageMaker({.cooldown_ms = 3000}).sale(sale);
    EXPECT_THAT(
        draft.html,
        HasSubstr(
            R"({"page":"sale","api":"","links":{"sales":"/","orders":"/orders","sale":"/sales/{sale}"},)"
            R"("dev":false,"languages":["en","zh-Hans","zh-Hant"],"cooldown_ms":3000,)"
            R"("sale":{"id":"drop","title":"\u003c/script>"}})"));
    EXPECT_THAT(draft.html, HasSubstr("Phones &amp; &quot;more&quot; &lt;/title&gt;&lt;script&gt;"));
    EXPECT_THAT(draft.html, HasSubstr("Phone · Case · Cable"));
    EXPECT_THAT(draft.html, Not(HasSubstr("Charger")));
    EXPECT_THAT(draft.html, Not(HasSubstr("{{")));
}

TEST(PageMaker, EveryKindOfPageIsWhole) {
    const PageMaker maker({.has_demo_sign_in = true});
    for (const PageDraft& draft :
         {maker.sale(sale), maker.sales(), maker.orders(), maker.closed(), maker.missing()}) {
        EXPECT_THAT(draft.html, StartsWith("<!doctype html>"));
        EXPECT_THAT(draft.html, Not(HasSubstr("{{")));
        EXPECT_THAT(draft.headers.policy, StartsWith("default-src 'none'; script-src "));
        EXPECT_THAT(draft.headers.policy, Not(HasSubstr("unsafe")));
    }
    EXPECT_THAT(maker.sales().html, HasSubstr(R"("dev":true)"));
    EXPECT_THAT(maker.closed().headers.cache, "no-store");
    EXPECT_THAT(maker.missing().headers.cache, "no-store");
    EXPECT_THAT(maker.closed().headers.policy, HasSubstr("script-src 'none'"));
}

TEST(PageMaker, APageFromElsewhereReachesItsServer) {
    const PageDraft draft = PageMaker({.api_origin = "https://api.example"}).orders();
    EXPECT_THAT(draft.html, HasSubstr(R"("api":"https://api.example")"));
    EXPECT_THAT(draft.headers.policy, HasSubstr("connect-src 'self' https://api.example;"));
}

TEST(PageMaker, EachEncodingHasATagOfItsOwn) {
    const Page page = with_small_forms(page_of(PageMaker({}).sales()));
    EXPECT_NE(page.plain.etag, page.gzip.etag);
    EXPECT_NE(page.gzip.etag, page.brotli.etag);
    EXPECT_THAT(page.brotli.headers, HasSubstr("Content-Encoding: br\r\n"));
    EXPECT_THAT(page.gzip.headers, HasSubstr("Content-Encoding: gzip\r\n"));
    EXPECT_THAT(page.plain.headers, Not(HasSubstr("Content-Encoding")));
    for (const PageForm* form : {&page.plain, &page.gzip, &page.brotli}) {
        EXPECT_THAT(form->headers, HasSubstr("Vary: Accept-Encoding\r\n"));
        EXPECT_THAT(form->headers, HasSubstr("ETag: " + form->etag + "\r\n"));
        EXPECT_THAT(form->headers_not_modified, HasSubstr("ETag: " + form->etag + "\r\n"));
        EXPECT_THAT(form->headers,
                    HasSubstr("Cache-Control: public, max-age=30, stale-while-revalidate=60\r\n"));
    }
}

// The first ten packets of a connection: what arrives before anybody has to wait for an answer.
TEST(PageMaker, ASalesPageFitsIntoTheFirstPackets) {
    constexpr size_t bytes_max = 14'336, room_bytes = 512;  // for a long title and more items
    const std::string json =
        R"({"id":"phone-drop","title":"Phone drop","state":"scheduled","opens_at":"2026-12-01T12:00:00Z",)"
        R"("opens_at_ms":1796126400000,"closes_at":"2026-12-01T12:30:00Z","closes_at_ms":1796128200000,)"
        R"("warm_before_s":600,"stock_policy":"reserve","payment_window_s":900,"human_check":"pow",)"
        R"("pow_number_max":0,"purchases_per_second_max":0,"buyers_per_address_max":0,"start_jitter_ms":0,)"
        R"("items":[{"id":"phone","name":"Phone","price_minor":999900,"original_price_minor":1599900,)"
        R"("currency":"TWD","units_total":1000,"units_per_buyer_max":2,"orders_max":0}]})";
    const Page quick = page_of(PageMaker({}).sale({.title = "Phone drop", .items = {"Phone"}, .json = json}));
    const Page page = with_small_forms(quick);
    EXPECT_LE(quick.gzip.body.size(), bytes_max);
    EXPECT_LE(page.gzip.body.size(), bytes_max - room_bytes);
    EXPECT_LE(page.brotli.body.size(), bytes_max - room_bytes);
}

}  // namespace
}  // namespace doorbuster
