#include "http/sales.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "http/etag.hpp"
#include "http/sale_json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {
constexpr std::string_view cacheable = "Cache-Control: public, max-age=1\r\n";
}

SalesEndpoints::Page SalesEndpoints::page_of(std::string body) {
    std::string etag = etag_of(body);
    std::string headers = fmt::format("{}ETag: {}\r\n", cacheable, etag);
    return {std::move(body), std::move(headers), std::move(etag)};
}

SalesEndpoints::Pages SalesEndpoints::pages_of(std::shared_ptr<const ListedSale> listed) {
    Page as_recorded = page_of(json::serialize(sale_json(*listed, listed->state)));
    Page sold_out = page_of(json::serialize(sale_json(*listed, SaleState::sold_out)));
    return {std::move(listed), std::move(as_recorded), std::move(sold_out)};
}

void SalesEndpoints::set_catalogue(std::shared_ptr<const Catalogue> catalogue) {
    decltype(pages_) pages;
    for (const auto& [id, listed] : catalogue->sales()) {
        if (listed->state == SaleState::draft) continue;
        const auto known = pages_.find(id);
        const bool is_unchanged = known != pages_.end() && known->second.listed == listed;
        pages.emplace(id, is_unchanged ? std::move(known->second) : pages_of(listed));
    }
    pages_ = std::move(pages);
    list_is_made_ = false;
}

const ListedSale* SalesEndpoints::find(std::string_view sale) const {
    const auto found = pages_.find(sale);
    return found == pages_.end() ? nullptr : found->second.listed.get();
}

void SalesEndpoints::send(Exchange& exchange, const Page& page) {
    if (none_match_hits(exchange.request().if_none_match, page.etag)) {
        return replies_.send(exchange, Response{.status = 304, .content_type = {}, .headers = page.headers});
    }
    replies_.send(exchange, Response{.headers = page.headers, .body = page.body});
}

void SalesEndpoints::list(Exchange& exchange) {
    if (list_is_made_ && is_from_cache_only(door_.level())) return send(exchange, list_);
    std::vector<bool> sold_out;
    sold_out.reserve(pages_.size());
    for (const auto& [id, pages] : pages_) {
        if (!pages.is_over()) sold_out.push_back(pages.is_sold_out());
    }

    if (!list_is_made_ || sold_out != list_sold_out_) {
        std::string body = R"({"sales":[)";
        size_t index = 0;
        for (const auto& [id, pages] : pages_) {
            if (pages.is_over()) continue;
            if (index > 0) body += ',';
            body += sold_out[index++] ? pages.sold_out.body : pages.as_recorded.body;
        }
        body += "]}";
        list_ = page_of(std::move(body));
        list_sold_out_ = std::move(sold_out);
        list_is_made_ = true;
    }
    send(exchange, list_);
}

void SalesEndpoints::show(Exchange& exchange, std::string_view sale) {
    const auto found = pages_.find(sale);
    if (found == pages_.end()) return replies_.refuse(exchange, Code::not_found);
    send(exchange, found->second.now());
}

void SalesEndpoints::stock(Exchange& exchange, std::string_view sale) {
    const auto found = pages_.find(sale);
    if (found == pages_.end()) return replies_.refuse(exchange, Code::not_found);

    // Under load it is written once a second, which is as long as anybody may keep it.
    Pages& pages = found->second;
    const Uptime now = clock_.uptime();
    const bool is_fresh = !pages.stock.empty() && now < pages.stock_at + std::chrono::seconds(1);
    if (!is_fresh || !is_from_cache_only(door_.level())) {
        pages.stock = fmt::format(R"({{"sale":"{}","items":{}}})", pages.listed->sale.id.view(),
                                  stock_text(*pages.listed));
        pages.stock_at = now;
    }
    replies_.send(exchange, Response{.headers = cacheable, .body = pages.stock});
}

}  // namespace doorbuster
