#include "page/published.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace doorbuster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SaleOnPage sale{.title = "Drop", .items = {"Phone"}, .json = R"({"id":"drop"})"};

TEST(Published, HasEveryPageWithItsCompressedOnes) {
    const auto files = published_files(PageMaker({}), "drop", sale);
    std::vector<std::string> paths;
    for (const PublishedFile& file : files) paths.push_back(file.path);
    EXPECT_THAT(paths, ElementsAre("_headers", "nginx.conf", "index.html.br", "index.html.gz", "index.html",
                                   "orders.html.br", "orders.html.gz", "orders.html", "sales/drop.html.br",
                                   "sales/drop.html.gz", "sales/drop.html"));
}

TEST(Published, TheHeadersAreThoseOfTheGate) {
    const PageMaker maker({.api_origin = "https://api.example"});
    const auto files = published_files(maker, "drop", sale);
    const std::string policy = maker.sale(sale).headers.policy;
    EXPECT_THAT(files[0].bytes, HasSubstr("/sales/*\n  Cache-Control: public, max-age=30"));
    EXPECT_THAT(files[0].bytes, HasSubstr("  Content-Security-Policy: " + policy + "\n"));
    EXPECT_THAT(files[1].bytes, HasSubstr("add_header Content-Security-Policy \"" + policy + "\";"));
    EXPECT_THAT(policy, HasSubstr("https://api.example"));
}

}  // namespace
}  // namespace doorbuster
