#include "sale/sale.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/check.hpp"

namespace doorbuster {

namespace {

bool is_currency(std::string_view text) {
    if (text.size() != 3) return false;
    for (const char c : text) {
        if (c < 'A' || c > 'Z') return false;
    }
    return true;
}

bool has_control(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
    }
    return false;
}

constexpr std::array<std::string_view, 3> human_checks{"none", "pow", "image"};

}  // namespace

std::string_view name_of(HumanCheck check) {
    CHECK(static_cast<size_t>(check) < human_checks.size());
    return human_checks[static_cast<size_t>(check)];
}

std::optional<HumanCheck> human_check_of(std::string_view name) {
    for (size_t i = 0; i < human_checks.size(); ++i) {
        if (human_checks[i] == name) return static_cast<HumanCheck>(i);
    }
    return std::nullopt;
}

std::vector<Fault> faults_of(const Sale& sale) {
    std::vector<Fault> faults;
    auto fault = [&](std::string pointer, std::string detail) {
        faults.push_back({std::move(pointer), std::move(detail)});
    };
    auto check_label = [&](const std::string& pointer, const std::string& text) {
        if (text.empty() || text.size() > title_bytes_max) {
            fault(pointer, fmt::format("must have 1 to {} bytes", title_bytes_max));
        } else if (has_control(text)) {
            fault(pointer, "must not contain control characters");
        }
    };
    auto check_range = [&](const std::string& pointer, int64_t value, int64_t min, int64_t max) {
        if (value < min || value > max) fault(pointer, fmt::format("must be from {} to {}", min, max));
    };

    if (!is_slug(sale.id.view())) {
        fault("/id", "must be lower-case letters, digits and inner hyphens, at most 64");
    }
    check_label("/title", sale.title);
    if (sale.closes_at <= sale.opens_at) fault("/closes_at", "must be after opens_at");
    check_range("/warm_before_s", sale.warm_before.count(), 0, 7 * 86400);
    check_range("/payment_window_s", sale.payment_window.count(), 5, 86400);
    check_range("/pow_number_max", sale.pow_number_max, 0, pow_number_bound);
    check_range("/purchases_per_second_max", sale.purchases_per_second_max, 0, purchases_per_second_bound);
    check_range("/buyers_per_address_max", sale.buyers_per_address_max, 0, buyers_per_address_bound);
    check_range("/start_jitter_ms", sale.start_jitter.count(), 0, start_jitter_ms_bound);
    if (sale.items.empty() || sale.items.size() > items_per_sale_max) {
        fault("/items", fmt::format("must have 1 to {} items", items_per_sale_max));
    }

    std::set<std::string_view> ids;
    for (size_t i = 0; i < sale.items.size(); ++i) {
        const Item& item = sale.items[i];
        const std::string at = fmt::format("/items/{}", i);
        if (!is_slug(item.id.view())) {
            fault(at + "/id", "must be lower-case letters, digits and inner hyphens, at most 64");
        } else if (!ids.insert(item.id.view()).second) {
            fault(at + "/id", "is used twice in this sale");
        }
        check_label(at + "/name", item.name);
        check_range(at + "/price_minor", item.price_minor, 1, price_minor_max);  // nobody can pay nothing
        check_range(at + "/original_price_minor", item.original_price_minor, item.price_minor,
                    price_minor_max);
        if (!is_currency(item.currency)) fault(at + "/currency", "must be an ISO 4217 code such as TWD");
        check_range(at + "/units_total", item.units_total, 1, units_max);
        check_range(at + "/units_per_buyer_max", item.units_per_buyer_max, 1, units_per_purchase_max);
        if (item.units_per_buyer_max > item.units_total) {
            fault(at + "/units_per_buyer_max", "must not exceed units_total");
        }
        check_range(at + "/orders_max", item.orders_max, 0, orders_max_bound);
        if (item.orders_max == 0) continue;
        if (sale.stock_policy != StockPolicy::at_payment) {
            fault(at + "/orders_max", "only applies to stock_policy at_payment");
        } else if (item.orders_max < item.units_per_buyer_max) {
            fault(at + "/orders_max", "must not be below units_per_buyer_max");
        }
    }
    return faults;
}

}  // namespace doorbuster
