// JSON bodies: a buyer's purchase, an operator's sale and change of one, a restock.
//
// The purchase has a reader of its own that allocates nothing; whatever it takes, the general
// reader takes as well, and sees the same in it. A sale that is taken can be shown and read again.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/check.hpp"
#include "http/json.hpp"
#include "http/purchase_body.hpp"
#include "http/restock_body.hpp"
#include "http/sale_json.hpp"

namespace doorbuster {
namespace {

namespace json = boost::json;

const Instant now = from_ms(1'800'000'000'000);

void purchase(std::string_view text, const std::optional<json::value>& value) {
    const auto body = read_purchase_body(text);
    CHECK(body || !value);  // its own reader may name faults in what is no JSON at all, such as NaN
    if (!body || !body->faults.empty()) return;
    CHECK(value);
    const json::object& object = value->as_object();
    const json::string& item = object.at("item").as_string();
    CHECK(body->item.view().empty() ? item.empty() || item.size() > ItemId::bytes_max
                                    : item == body->item.view());
    if (const auto* quantity = object.if_contains("quantity")) CHECK(quantity->as_int64() == body->quantity);
    CHECK(body->quantity >= 1 && object.contains("token") == body->has_token);
    for (const auto& field : object) {
        CHECK(field.key() == "item" || field.key() == "quantity" || field.key() == "token");
    }
}

void sale(const json::value& value) {
    const SaleReading reading = read_sale(value, now);
    static_cast<void>(read_sale_patch(reading.sale, value, now));
    if (!reading.faults.empty()) return;
    const SaleReading again = read_sale(sale_terms_json(reading.sale), now);
    CHECK(again.faults.empty());
    CHECK(json::serialize(sale_terms_json(again.sale)) == json::serialize(sale_terms_json(reading.sale)));
    static_cast<void>(json::serialize(sale_json(reading.sale, SaleState::open)));
}

void fuzz(std::string_view text) {
    const auto value = parse_json(text);
    purchase(text, value);
    if (!value) return;
    sale(*value);
    ListedSale listed{};
    static_cast<void>(read_restock(*value, listed));
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    doorbuster::fuzz(text);
    return 0;
}
