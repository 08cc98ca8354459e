#include "audit/difference.hpp"

#include <fmt/format.h>

#include <array>

#include "base/check.hpp"

namespace doorbuster::audit {

namespace {

constexpr std::array<std::string_view, kinds> kind_names = {"units",
                                                            "oversold",
                                                            "ledger_without_purchase",
                                                            "ledger_twice",
                                                            "purchase_without_ledger",
                                                            "purchase_without_order",
                                                            "order_without_purchase",
                                                            "order_twice",
                                                            "order_disagrees",
                                                            "amount_disagrees",
                                                            "paid_without_capture",
                                                            "capture_without_order",
                                                            "holding_over_limit",
                                                            "holding_disagrees",
                                                            "unit_not_released",
                                                            "released_twice",
                                                            "hold_disagrees",
                                                            "sequence_gap",
                                                            "sequence_order"};
constexpr std::array<std::string_view, checks> check_names = {"units",    "ledger",   "payments",
                                                              "holdings", "releases", "sequences"};

}  // namespace

std::string_view name_of(Kind kind) {
    return kind_names[static_cast<size_t>(kind)];
}

std::optional<Kind> kind_of(std::string_view name) {
    for (size_t i = 0; i < kinds; ++i) {
        if (kind_names[i] == name) return static_cast<Kind>(i);
    }
    return std::nullopt;
}

std::string_view name_of(Check check) {
    return check_names[static_cast<size_t>(check)];
}

Check check_of(Kind kind) {
    switch (kind) {
        case Kind::units:
        case Kind::oversold:
            return Check::units;
        case Kind::ledger_without_purchase:
        case Kind::ledger_twice:
        case Kind::purchase_without_ledger:
        case Kind::purchase_without_order:
        case Kind::order_without_purchase:
        case Kind::order_twice:
        case Kind::order_disagrees:
            return Check::ledger;
        case Kind::amount_disagrees:
        case Kind::paid_without_capture:
        case Kind::capture_without_order:
            return Check::payments;
        case Kind::holding_over_limit:
        case Kind::holding_disagrees:
            return Check::holdings;
        case Kind::unit_not_released:
        case Kind::released_twice:
        case Kind::hold_disagrees:
            return Check::releases;
        case Kind::sequence_gap:
        case Kind::sequence_order:
            return Check::sequences;
    }
    CHECK(false);
    return Check::units;
}

std::string Difference::key() const {
    std::string key = fmt::format("{}:{}", name_of(kind), sale.view());
    if (item) key += fmt::format(":{}", item->view());
    if (purchase) key += fmt::format(":p{}", purchase->hex());
    if (order) key += fmt::format(":o{}", static_cast<int64_t>(*order));
    if (payment) key += fmt::format(":m{}", static_cast<int64_t>(*payment));
    if (position) key += fmt::format(":@{}", *position);
    if (sequence) key += fmt::format(":#{}", *sequence);
    if (!figures.empty()) key += fmt::format(":x{}", fmt::join(figures, "-"));
    if (buyer) key += fmt::format(":{}", buyer->view());  // last: it may hold any character
    return key;
}

}  // namespace doorbuster::audit
