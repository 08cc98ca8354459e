#include "http/sale_json.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/rfc3339.hpp"
#include "http/json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

json::object item_json(const Item& item) {
    return {{"id", item.id.view()},
            {"name", item.name},
            {"price_minor", item.price_minor},
            {"original_price_minor", item.original_price_minor},
            {"currency", item.currency},
            {"units_total", item.units_total},
            {"units_per_buyer_max", item.units_per_buyer_max},
            {"orders_max", item.orders_max}};
}

json::array items_json(const Sale& sale) {
    json::array items;
    for (const Item& item : sale.items) items.push_back(item_json(item));
    return items;
}

void put_policies(json::object& into, const Sale& sale) {
    into["warm_before_s"] = sale.warm_before.count();
    into["stock_policy"] = doorbuster::name_of(sale.stock_policy);
    into["payment_window_s"] = sale.payment_window.count();
    into["human_check"] = doorbuster::name_of(sale.human_check);
    into["pow_number_max"] = sale.pow_number_max;
    into["purchases_per_second_max"] = sale.purchases_per_second_max;
    into["buyers_per_address_max"] = sale.buyers_per_address_max;
    into["start_jitter_ms"] = sale.start_jitter.count();
}

json::object with_version(json::object sale, uint64_t version) {
    sale["version"] = version;
    return sale;
}

}  // namespace

json::object sale_terms_json(const Sale& sale) {
    json::object into{{"id", sale.id.view()},
                      {"title", sale.title},
                      {"opens_at", format_rfc3339(sale.opens_at)},
                      {"closes_at", format_rfc3339(sale.closes_at)}};
    put_policies(into, sale);
    into["items"] = items_json(sale);
    return into;
}

json::object sale_json(const Sale& sale, SaleState state) {
    json::object into{{"id", sale.id.view()}, {"title", sale.title}, {"state", doorbuster::name_of(state)}};
    put_instant(into, "opens_at", sale.opens_at);
    put_instant(into, "closes_at", sale.closes_at);
    put_policies(into, sale);
    into["items"] = items_json(sale);
    return into;
}

json::object sale_json(const ListedSale& listed, SaleState shown) {
    json::object into = sale_json(listed.sale, shown);
    json::array items;
    for (const ListedItem& item : listed.items) items.push_back(item_json(item.item));
    into["items"] = std::move(items);
    return into;
}

json::object admin_sale_json(const ListedSale& listed) {
    return with_version(sale_json(listed, listed.state_now()), listed.version);
}

json::object admin_sale_json(const SaleRecord& record) {
    Sale sale = record.sale;
    // Restocks count in the stock row alone.
    for (size_t i = 0; i < sale.items.size() && i < record.stock.size(); ++i) {
        sale.items[i].units_total = record.stock[i].units_total;
    }
    return with_version(sale_json(sale, record.state), record.version);
}

std::string stock_text(const ListedSale& listed) {
    // Ids are slugs and the rest are numbers: nothing here needs escaping.
    std::string text = "[";
    for (const ListedItem& item : listed.items) {
        const Stock units = item.board->stock();
        if (text.size() > 1) text += ',';
        fmt::format_to(
            std::back_inserter(text),
            R"({{"id":"{}","units_total":{},"units_available":{},"units_held":{},"units_sold":{}}})",
            item.item.id.view(), units.units_total, units.units_available, units.units_held,
            units.units_sold);
    }
    return text + ']';
}

}  // namespace doorbuster
