#include "http/sale_json.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

#include "http/restock_body.hpp"

namespace doorbuster {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

constexpr const char* phone_drop = R"({
    "id":"phone-drop","title":"Phone drop",
    "opens_at":"2026-12-01T12:00:00Z","closes_at":"2026-12-01T12:30:00Z",
    "warm_before_s":600,"stock_policy":"reserve","payment_window_s":60,"human_check":"pow",
    "pow_number_max":20000,"purchases_per_second_max":500,"buyers_per_address_max":5,"start_jitter_ms":250,
    "items":[{"id":"phone","name":"Phone","price_minor":999900,"original_price_minor":1599900,"currency":"TWD",
              "units_total":1000,"units_per_buyer_max":2,"orders_max":0}]})";

const Instant now = from_ms(1796126400000 - 1000);  // a second before it opens

json::object valid() {
    return json::parse(phone_drop).as_object();
}

std::vector<std::string> pointers(const std::vector<Fault>& faults) {
    std::vector<std::string> found;
    for (const Fault& fault : faults) found.push_back(fault.pointer);
    return found;
}

ListedSale listed_sale() {
    ListedSale listed{
        .sale = read_sale(valid(), now).sale, .state = SaleState::open, .version = 3, .items = {}};
    listed.items.push_back({listed.sale.items[0], ItemSlot{0}, std::make_shared<ItemBoard>()});
    listed.items[0].board->show({1000, 999, 1, 0});
    return listed;
}

TEST(SaleReader, ReadsEveryField) {
    const SaleReading reading = read_sale(valid(), now);
    EXPECT_THAT(pointers(reading.faults), IsEmpty());
    EXPECT_EQ(reading.sale.id.view(), "phone-drop");
    EXPECT_EQ(reading.sale.title, "Phone drop");
    EXPECT_EQ(to_ms(reading.sale.opens_at), 1796126400000);
    EXPECT_EQ(reading.sale.closes_at - reading.sale.opens_at, std::chrono::minutes(30));
    EXPECT_EQ(reading.sale.warm_before.count(), 600);
    EXPECT_EQ(reading.sale.payment_window.count(), 60);
    EXPECT_EQ(reading.sale.human_check, HumanCheck::pow);
    EXPECT_EQ(reading.sale.pow_number_max, 20000u);
    EXPECT_EQ(reading.sale.purchases_per_second_max, 500u);
    EXPECT_EQ(reading.sale.buyers_per_address_max, 5u);
    EXPECT_EQ(reading.sale.start_jitter.count(), 250);
    ASSERT_EQ(reading.sale.items.size(), 1u);
    EXPECT_EQ(reading.sale.items[0].original_price_minor, 1599900);
    EXPECT_EQ(reading.sale.items[0].units_per_buyer_max, 2u);
    EXPECT_EQ(reading.state, std::nullopt);
}

TEST(SaleReader, KnowsEveryStockPolicy) {
    for (const StockPolicy policy : {StockPolicy::reserve, StockPolicy::at_order, StockPolicy::at_payment}) {
        json::object sale = valid();
        sale["stock_policy"] = name_of(policy);
        const SaleReading reading = read_sale(sale, now);
        EXPECT_THAT(pointers(reading.faults), IsEmpty());
        EXPECT_EQ(reading.sale.stock_policy, policy);
        EXPECT_EQ(sale_terms_json(reading.sale), sale);
    }
}

TEST(SaleReader, OrdersMaxGoesWithAtPayment) {
    json::object sale = valid();
    sale["items"].as_array()[0].as_object()["orders_max"] = 1500;
    EXPECT_THAT(pointers(read_sale(sale, now).faults), ElementsAre("/items/0/orders_max"));
    sale["stock_policy"] = "at_random";
    EXPECT_THAT(pointers(read_sale(sale, now).faults), ElementsAre("/stock_policy")) << "one fault, not two";
    sale["stock_policy"] = "at_payment";
    const SaleReading reading = read_sale(sale, now);
    EXPECT_THAT(pointers(reading.faults), IsEmpty());
    EXPECT_EQ(reading.sale.items[0].orders_max, 1500u);
    EXPECT_THAT(
        pointers(read_sale_patch(reading.sale, json::parse(R"({"stock_policy":"reserve"})"), now).faults),
        ElementsAre("/items/0/orders_max"));
}

TEST(SaleReader, FillsInTheDefaults) {
    json::object sale = valid();
    for (const char* name :
         {"warm_before_s", "stock_policy", "payment_window_s", "human_check", "pow_number_max",
          "purchases_per_second_max", "buyers_per_address_max", "start_jitter_ms"})
        sale.erase(name);
    json::object& item = sale["items"].as_array()[0].as_object();
    item.erase("original_price_minor");
    item.erase("units_per_buyer_max");
    item.erase("orders_max");

    const SaleReading reading = read_sale(sale, now);
    EXPECT_THAT(pointers(reading.faults), IsEmpty());
    EXPECT_EQ(reading.sale.warm_before.count(), 1800);
    EXPECT_EQ(reading.sale.payment_window.count(), 900);
    EXPECT_EQ(reading.sale.human_check, HumanCheck::none);
    EXPECT_EQ(reading.sale.pow_number_max, 0u);
    EXPECT_EQ(reading.sale.purchases_per_second_max, 0u);
    EXPECT_EQ(reading.sale.buyers_per_address_max, 0u);
    EXPECT_EQ(reading.sale.start_jitter.count(), 0);
    EXPECT_EQ(reading.sale.items[0].original_price_minor, 999900);
    EXPECT_EQ(reading.sale.items[0].units_per_buyer_max, 1u);
    EXPECT_EQ(reading.sale.stock_policy, StockPolicy::reserve);
    EXPECT_EQ(reading.sale.items[0].orders_max, 0u);
}

struct Fix {
    const char* patch;  // merged into the good sale; null removes
    std::vector<std::string> pointers;
};
class SaleFaults : public testing::TestWithParam<Fix> {};
TEST_P(SaleFaults, ArePointedAtOnceEach) {
    json::object sale = valid();
    const json::value patch = json::parse(GetParam().patch);
    for (const auto& field : patch.get_object()) {
        if (field.value().is_null()) {
            sale.erase(field.key());
        } else {
            sale[field.key()] = field.value();
        }
    }
    EXPECT_THAT(pointers(read_sale(sale, now).faults), UnorderedElementsAreArray(GetParam().pointers))
        << GetParam().patch;
}
INSTANTIATE_TEST_SUITE_P(
    OfTheSale, SaleFaults,
    testing::Values(
        Fix{R"({"id":null})", {"/id"}}, Fix{R"({"id":7})", {"/id"}}, Fix{R"({"id":""})", {"/id"}},
        Fix{R"({"id":"No Slug"})", {"/id"}}, Fix{R"({"title":null})", {"/title"}},
        Fix{R"({"title":""})", {"/title"}}, Fix{R"({"title":[]})", {"/title"}},
        Fix{R"({"opens_at":null})", {"/opens_at"}}, Fix{R"({"opens_at":"tomorrow"})", {"/opens_at"}},
        Fix{R"({"opens_at":1764590400})", {"/opens_at"}}, Fix{R"({"closes_at":null})", {"/closes_at"}},
        Fix{R"({"closes_at":"2026-12-01T12:00:00Z"})", {"/closes_at"}},
        Fix{R"({"warm_before_s":-1})", {"/warm_before_s"}},
        Fix{R"({"warm_before_s":1.5})", {"/warm_before_s"}},
        Fix{R"({"payment_window_s":1})", {"/payment_window_s"}},
        Fix{R"({"payment_window_s":9223372036854775808})", {"/payment_window_s"}},
        Fix{R"({"stock_policy":"at_random"})", {"/stock_policy"}},
        Fix{R"({"stock_policy":1})", {"/stock_policy"}}, Fix{R"({"human_check":"retina"})", {"/human_check"}},
        Fix{R"({"human_check":1})", {"/human_check"}},
        Fix{R"({"pow_number_max":10000001})", {"/pow_number_max"}},
        Fix{R"({"purchases_per_second_max":-1})", {"/purchases_per_second_max"}},
        Fix{R"({"buyers_per_address_max":65})", {"/buyers_per_address_max"}},
        Fix{R"({"start_jitter_ms":60001})", {"/start_jitter_ms"}},
        Fix{R"({"start_jitter_ms":-1})", {"/start_jitter_ms"}}, Fix{R"({"state":"open"})", {"/state"}},
        Fix{R"({"state":1})", {"/state"}}, Fix{R"({"version":1})", {"/version"}},
        Fix{R"({"a/b":1})", {"/a~1b"}}, Fix{R"({"items":null})", {"/items"}},
        Fix{R"({"items":[]})", {"/items"}}, Fix{R"({"items":{}})", {"/items"}},
        Fix{R"({"items":["phone"]})", {"/items/0"}},
        Fix{R"({"id":null,"title":7,"opens_at":"x","surprise":1})",
            {"/id", "/title", "/opens_at", "/surprise"}}));
INSTANTIATE_TEST_SUITE_P(
    OfAnItem, SaleFaults,
    testing::Values(
        Fix{R"({"items":[{}]})",
            {"/items/0/id", "/items/0/name", "/items/0/price_minor", "/items/0/currency",
             "/items/0/units_total"}},
        Fix{R"({"items":[{"id":"a","name":"A","price_minor":"1","currency":"TWD","units_total":1}]})",
            {"/items/0/price_minor"}},
        Fix{R"({"items":[{"id":"a","name":"A","price_minor":5,"original_price_minor":4,"currency":"TWD","units_total":1}]})",
            {"/items/0/original_price_minor"}},
        Fix{R"({"items":[{"id":"a","name":"A","price_minor":1,"currency":"twd","units_total":0,"colour":"red"}]})",
            {"/items/0/currency", "/items/0/units_total", "/items/0/units_per_buyer_max", "/items/0/colour"}},
        Fix{R"({"items":[{"id":"a","name":"A","price_minor":1,"currency":"TWD","units_total":4294967296}]})",
            {"/items/0/units_total"}},
        Fix{R"({"items":[{"id":"a","name":"A","price_minor":1,"currency":"TWD","units_total":1},
                         {"id":"a","name":"B","price_minor":1,"currency":"TWD","units_total":1}]})",
            {"/items/1/id"}}));

TEST(SaleReader, ASaleIsAnObject) {
    EXPECT_THAT(pointers(read_sale(json::parse("[]"), now).faults), ElementsAre(""));
}

TEST(SalePatch, ChangesOnlyWhatItNames) {
    const Sale current = read_sale(valid(), now).sale;
    const SaleReading reading =
        read_sale_patch(current, json::parse(R"({"title":"New","state":"scheduled"})"), now);
    EXPECT_THAT(pointers(reading.faults), IsEmpty());
    EXPECT_EQ(reading.sale.title, "New");
    EXPECT_EQ(reading.state, SaleState::scheduled);
    EXPECT_EQ(reading.sale.opens_at, current.opens_at);
    EXPECT_EQ(reading.sale.items.size(), 1u);
    EXPECT_EQ(reading.sale.warm_before, current.warm_before);
}

TEST(SalePatch, NullBringsTheDefaultBack) {
    const SaleReading reading =
        read_sale_patch(read_sale(valid(), now).sale, json::parse(R"({"warm_before_s":null})"), now);
    EXPECT_THAT(pointers(reading.faults), IsEmpty());
    EXPECT_EQ(reading.sale.warm_before.count(), 1800);
}

TEST(SalePatch, FaultsPointIntoWhatWasSent) {
    const Sale current = read_sale(valid(), now).sale;
    EXPECT_THAT(pointers(read_sale_patch(current, json::parse(R"({"id":"other"})"), now).faults),
                ElementsAre("/id"));
    EXPECT_THAT(pointers(read_sale_patch(current, json::parse(R"({"title":null,"price":1})"), now).faults),
                UnorderedElementsAre("/title", "/price"));
    EXPECT_THAT(pointers(read_sale_patch(current, json::parse("7"), now).faults), ElementsAre(""));
}

TEST(SaleReader, ASaleThatIsOverAlreadyIsFaulty) {
    const Instant end = read_sale(valid(), now).sale.closes_at;
    EXPECT_THAT(pointers(read_sale(valid(), end - milliseconds(1)).faults), IsEmpty());
    EXPECT_THAT(pointers(read_sale(valid(), end).faults), ElementsAre("/closes_at"));
}

TEST(SalePatch, SetsNoEndThatHasPassedAndSchedulesNoSaleThatIsOver) {
    const Sale current = read_sale(valid(), now).sale;
    const auto faults = [&](const char* patch, Instant at) {
        return pointers(read_sale_patch(current, json::parse(patch), at).faults);
    };
    const Instant later = current.closes_at + std::chrono::hours(1);
    EXPECT_THAT(faults(R"({"closes_at":"2026-12-01T12:31:00Z"})", now), IsEmpty());
    EXPECT_THAT(faults(R"({"closes_at":"2026-12-01T12:31:00Z"})", later), ElementsAre("/closes_at"));
    EXPECT_THAT(faults(R"({"state":"scheduled"})", later), ElementsAre("/closes_at"));
    EXPECT_THAT(faults(R"({"title":"New"})", later), IsEmpty());
}

TEST(SaleJson, ShowsExactlyTheseFields) {
    const ListedSale listed = listed_sale();
    const std::string shown =
        R"({"id":"phone-drop","title":"Phone drop","state":"open","opens_at":"2026-12-01T12:00:00Z","opens_at_ms":1796126400000,)"
        R"("closes_at":"2026-12-01T12:30:00Z","closes_at_ms":1796128200000,"warm_before_s":600,"stock_policy":"reserve",)"
        R"("payment_window_s":60,"human_check":"pow","pow_number_max":20000,"purchases_per_second_max":500,)"
        R"("buyers_per_address_max":5,"start_jitter_ms":250,"items":[{"id":"phone","name":"Phone","price_minor":999900,)"
        R"("original_price_minor":1599900,"currency":"TWD","units_total":1000,"units_per_buyer_max":2,"orders_max":0}])";
    EXPECT_EQ(json::serialize(sale_json(listed, listed.state)), shown + "}");
    EXPECT_EQ(json::serialize(admin_sale_json(listed)), shown + R"(,"version":3})");
}

TEST(SaleJson, ARestockShowsInTheOperatorsAnswer) {
    SaleRecord record{
        .sale = read_sale(valid(), now).sale, .state = SaleState::open, .version = 4, .stock = {}};
    record.stock.push_back({1500, 500, 1000, 0});
    const json::object shown = admin_sale_json(record);
    EXPECT_EQ(shown.at("items").at(0).at("units_total").to_number<int>(), 1500);
    EXPECT_EQ(shown.at("version").to_number<int>(), 4);
}

TEST(SaleJson, WhatIsShownCanBeReadAgain) {
    EXPECT_EQ(sale_terms_json(read_sale(valid(), now).sale), valid());
}

TEST(SaleJson, StockComesFromTheBoards) {
    EXPECT_EQ(stock_text(listed_sale()),
              R"([{"id":"phone","units_total":1000,"units_available":999,"units_held":1,"units_sold":0}])");
}

TEST(RestockBody, ReportsEveryFault) {
    const ListedSale listed = listed_sale();
    const auto read = [&](const char* text) { return read_restock(json::parse(text), listed); };
    const RestockReading good = read(R"({"item":"phone","units":5})");
    EXPECT_THAT(pointers(good.faults), IsEmpty());
    EXPECT_EQ(good.item.view(), "phone");
    EXPECT_EQ(good.units, 5u);

    EXPECT_THAT(pointers(read("{}").faults), UnorderedElementsAre("/item", "/units"));
    EXPECT_THAT(pointers(read(R"({"item":"tv","units":0,"x":1})").faults),
                UnorderedElementsAre("/item", "/units", "/x"));
    EXPECT_THAT(pointers(read(R"({"item":"phone","units":100000000})").faults), ElementsAre("/units"));
    EXPECT_THAT(pointers(read("[]").faults), ElementsAre(""));
}

}  // namespace
}  // namespace doorbuster
