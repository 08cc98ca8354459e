#include "audit/report_html.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace doorbuster::audit {
namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(ReportHtml, FetchesNothingAndRunsNothing) {
    const auto report = boost::json::parse(
        R"({"run":7,"sale":"phone-drop","agrees":false,"differences_total":1,"items":[],"checks":[],
            "differences":[{"kind":"units","buyer":"https://evil.example/","detail":"off","repair":"mend"}]})");
    const std::string html = report_html(report.as_object());
    for (const char* forbidden : {"<script", "src=", "href=", "url(", "@import", "<link", "<img"})
        EXPECT_FALSE(contains(html, forbidden)) << forbidden;
    EXPECT_TRUE(contains(html, "prefers-color-scheme:dark"));
    EXPECT_TRUE(contains(html, "@media print"));
    EXPECT_TRUE(contains(html, "1 differences."));
}

TEST(ReportHtml, EscapesEveryText) {
    const std::string evil = R"(<img src=x onerror=\"alert('1')\">&)";
    boost::json::object one, item;
    for (const char* name : {"kind", "outcome", "detail", "item", "buyer", "purchase", "order", "payment",
                             "position", "sequence", "repair", "error"})
        one[name] = evil;
    for (const char* name : {"id", "units_total", "check", "records"}) item[name] = evil;
    boost::json::object report{{"differences", boost::json::array{one}},
                               {"items", boost::json::array{item}},
                               {"checks", boost::json::array{item}},
                               {"left_out", evil}};
    for (const char* name : {"sale", "run", "at", "trigger", "position", "in_flight", "differences_total"})
        report[name] = evil;
    EXPECT_FALSE(contains(report_html(report), "<img"));
    EXPECT_EQ(escape_html("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
}

TEST(ReportHtml, ShowsWhatIsMissingAsADash) {
    EXPECT_TRUE(contains(report_html({}), "Reconciliation -"));
}

}  // namespace
}  // namespace doorbuster::audit
