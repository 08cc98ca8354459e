#include "page/page_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "page/assets.hpp"

namespace doorbuster {

namespace {

constexpr std::ptrdiff_t summary_items_max = 3;

Shell site_shell(std::string_view main, std::string_view script) {
    const std::string whole = with_part(main, "sign_in", assets::sign_in_html());
    const std::string body = with_part(assets::site_html(), "main", whole);
    const std::string html = with_part(assets::frame_html(), "body", body);
    return Shell({.html = html, .style = assets::style(), .script = script});
}

Shell plain_shell(std::string_view body) {
    const std::string html = with_part(assets::frame_html(), "body", body);
    return Shell({.html = html, .style = assets::style(), .script = {}});
}

}  // namespace

PageMaker::PageMaker(PageTerms terms)
    : terms_(std::move(terms)),
      cache_(fmt::format("public, max-age={}, stale-while-revalidate={}", terms_.cache.count(),
                         terms_.stale.count())),
      sale_(site_shell(assets::sale_html(), assets::sale_script())),
      sales_(site_shell(assets::sales_html(), assets::sales_script())),
      orders_(site_shell(assets::orders_html(), assets::orders_script())),
      closed_(plain_shell(assets::closed_html())),
      missing_(plain_shell(assets::missing_html())) {}

// An origin is judged where it comes from and has no quote in it; the rest are our own words.
std::string PageMaker::data(std::string_view page, std::string_view name, std::string_view json) const {
    return fmt::format(
        R"({{"page":"{}","api":"{}","links":{{"sales":"/","orders":"/orders","sale":"/sales/{{sale}}"}},)"
        R"("dev":{},"languages":["en","zh-Hans","zh-Hant"],"cooldown_ms":{},"{}":{}}})",
        page, terms_.api_origin, terms_.has_demo_sign_in, terms_.cooldown_ms, name, json);
}

PageDraft PageMaker::draft(const Shell& shell, const PageText& text) const {
    return {.html = shell.fill(text),
            .headers = {.policy = shell.policy(terms_.api_origin), .cache = cache_}};
}

PageDraft PageMaker::sale(const SaleOnPage& sale) const {
    const std::vector<std::string_view> named(
        sale.items.begin(), sale.items.begin() + std::min(std::ssize(sale.items), summary_items_max));
    return draft(sale_, {.title = sale.title,
                         .summary = fmt::format("{}", fmt::join(named, " · ")),
                         .data = data("sale", "sale", sale.json)});
}

// The list and the orders are asked for: they are not the same for long, or for everybody.
PageDraft PageMaker::sales() const {
    return draft(sales_, {.title = "Sales", .summary = "Sales", .data = data("sales", "sales", "null")});
}

PageDraft PageMaker::orders() const {
    return draft(orders_,
                 {.title = "My orders", .summary = "My orders", .data = data("orders", "orders", "null")});
}

PageDraft PageMaker::unkept(const Shell& shell, std::string_view title) const {
    PageDraft page = draft(shell, {.title = title, .summary = title});
    page.headers.cache = "no-store";
    return page;
}

PageDraft PageMaker::closed() const {
    PageDraft page = unkept(closed_, "Closed for the moment");
    page.headers.further = "Retry-After: 60\r\n";
    return page;
}

PageDraft PageMaker::missing() const {
    return unkept(missing_, "Not found");
}

}  // namespace doorbuster
