// PageMaker: the buyers' pages, from what the build bundled and what a sale says.
//
// Only what stays true for a while is written into a page: a copy in somebody's cache still
// behaves, because the page asks the server for the time and hears the rest when it acts.
//
// Thread safety: const calls from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "page/page.hpp"
#include "page/shell.hpp"

namespace doorbuster {

struct PageTerms {
    std::string api_origin{};  // where the interface is; empty: where the page is
    uint32_t cooldown_ms = 5000;
    std::chrono::seconds cache{30};  // for how long anybody may keep a page,
    std::chrono::seconds stale{60};  // and show it further while asking for a newer one
    bool has_demo_sign_in = false;
};

struct SaleOnPage {
    std::string_view title;
    std::vector<std::string_view> items;  // their names
    std::string_view json;                // as the interface shows it
};

class PageMaker {
public:
    explicit PageMaker(PageTerms terms);

    PageDraft sale(const SaleOnPage&) const;
    PageDraft sales() const;
    PageDraft orders() const;
    PageDraft closed() const;   // in place of them all, when nobody is let in
    PageDraft missing() const;  // where there is none

private:
    std::string data(std::string_view page, std::string_view name, std::string_view json) const;
    PageDraft draft(const Shell&, const PageText&) const;
    PageDraft unkept(const Shell&, std::string_view title) const;  // by no cache

    const PageTerms terms_;
    const std::string cache_;
    const Shell sale_, sales_, orders_, closed_, missing_;
};

}  // namespace doorbuster
