#include "http/sales.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <iterator>

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

void SalesEndpoints::set_catalogue(std::shared_ptr<const Catalogue> catalogue) {
    pages_.clear();
    list_is_made_ = false;
    catalogue_ = std::move(catalogue);
    for (const auto& [id, listed] : catalogue_->sales()) {
        if (listed.state == SaleState::draft) continue;
        pages_.emplace(id, Pages{&listed, page_of(json::serialize(sale_json(listed, listed.state))),
                                 page_of(json::serialize(sale_json(listed, SaleState::sold_out)))});
    }
}

const ListedSale* SalesEndpoints::find(std::string_view sale) const {
    const auto found = pages_.find(sale);
    return found == pages_.end() ? nullptr : found->second.listed;
}

void SalesEndpoints::send(Exchange& exchange, const Page& page) {
    if (none_match_hits(exchange.request().if_none_match, page.etag)) {
        return replies_.send(exchange, Response{.status = 304, .content_type = {}, .headers = page.headers});
    }
    replies_.send(exchange, Response{.headers = page.headers, .body = page.body});
}

void SalesEndpoints::list(Exchange& exchange) {
    std::vector<bool> sold_out;
    sold_out.reserve(pages_.size());
    for (const auto& [id, pages] : pages_) sold_out.push_back(pages.is_sold_out());

    if (!list_is_made_ || sold_out != list_sold_out_) {
        std::string body = R"({"sales":[)";
        size_t index = 0;
        for (const auto& [id, pages] : pages_) {
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
    const ListedSale* listed = find(sale);
    if (listed == nullptr) return replies_.refuse(exchange, Code::not_found);

    // Ids are slugs and the rest are numbers: nothing here needs escaping.
    fmt::memory_buffer body;
    auto out = std::back_inserter(body);
    fmt::format_to(out, R"({{"sale":"{}","items":[)", listed->sale.id.view());
    bool first = true;
    for (const ListedItem& item : listed->items) {
        const Stock units = item.board->stock();
        fmt::format_to(
            out, R"({}{{"id":"{}","units_total":{},"units_available":{},"units_held":{},"units_sold":{}}})",
            first ? "" : ",", item.item.id.view(), units.units_total, units.units_available, units.units_held,
            units.units_sold);
        first = false;
    }
    fmt::format_to(out, "]}}");
    replies_.send(exchange, Response{.headers = cacheable, .body = {body.data(), body.size()}});
}

}  // namespace doorbuster
