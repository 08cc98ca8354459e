// Sale: what is sold, to whom, when, on which terms. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "sale/ids.hpp"
#include "sale/states.hpp"
#include "sale/stock_policy.hpp"

namespace doorbuster {

struct Item {
    ItemId id;
    std::string name;
    int64_t price_minor = 0;
    int64_t original_price_minor = 0;
    std::string currency;  // ISO 4217
    uint32_t units_total = 0;
    uint32_t units_per_buyer_max = 1;
    uint32_t orders_max = 0;  // at_payment: units that open orders may ask for; 0: twice the units

    friend bool operator==(const Item&, const Item&) = default;
};

// What a buyer has to pass before the button: nothing, proof of work by the device, or an
// image to read, with proof of work offered beside it.
enum class HumanCheck : uint8_t { none, pow, image };  // persisted by name

std::string_view name_of(HumanCheck);
std::optional<HumanCheck> human_check_of(std::string_view name);

struct Sale {
    SaleId id;
    std::string title;
    Instant opens_at, closes_at;
    std::chrono::seconds warm_before{1800};
    StockPolicy stock_policy = StockPolicy::reserve;
    std::chrono::seconds payment_window{900};
    HumanCheck human_check = HumanCheck::none;
    uint32_t pow_number_max = 0;            // how hard the proof of work is; 0: as the server is set
    uint32_t purchases_per_second_max = 0;  // purchases that may ask for a unit; 0: no limit of its own
    uint32_t buyers_per_address_max = 0;    // distinct buyers behind one address; 0: as the server is set
    // The page lights its button up to this much after the start, at random; 0: for all at once.
    std::chrono::milliseconds start_jitter{0};
    std::vector<Item> items;

    friend bool operator==(const Sale&, const Sale&) = default;
};

// What is wrong with one field, and where: a JSON pointer into the sale as it was sent.
struct Fault {
    std::string pointer;
    std::string detail;
};

// Every contradiction in the sale; none if it can be sold. Fields that cannot be
// represented at all (a wrong type, an unknown word) are the reader's to report.
std::vector<Fault> faults_of(const Sale&);

constexpr size_t items_per_sale_max = 1000;
constexpr uint32_t units_max = 100'000'000;
constexpr int64_t price_minor_max = 1'000'000'000'000;  // times any quantity it stays far below 2^63
constexpr uint32_t units_per_purchase_max = 1000;
constexpr uint32_t orders_max_bound = 1'000'000'000;
constexpr size_t title_bytes_max = 200;
constexpr uint32_t pow_number_bound = 10'000'000;  // seconds of a phone's time
constexpr uint32_t purchases_per_second_bound = 10'000'000;
constexpr uint32_t buyers_per_address_bound = 64;
constexpr int64_t start_jitter_ms_bound = 60'000;

}  // namespace doorbuster
