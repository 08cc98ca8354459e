// What the tables of every backend have in common: the names of states, the reasons that buyers read,
// and how units leave one column of a stock row for another.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "store/orders.hpp"

namespace doorbuster {

inline constexpr std::array<std::string_view, 4> hold_names = {"held", "sold", "finished", "open"};
inline constexpr std::array<std::string_view, 3> letter_names = {"open", "retried", "dropped"};
inline constexpr std::array<std::string_view, 4> stock_move_names = {"sold", "released", "restocked",
                                                                     "repaired"};

constexpr std::string_view name_of(HoldState state) {
    return hold_names[static_cast<size_t>(state)];
}
constexpr std::string_view name_of(LetterState state) {
    return letter_names[static_cast<size_t>(state)];
}
constexpr std::string_view name_of(StockMoveKind kind) {
    return stock_move_names[static_cast<size_t>(kind)];
}

// What stands under this name, if anything does.
template <class Value, class Names>
constexpr std::optional<Value> find_name(const Names& names, std::string_view name) {
    for (size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<Value>(i);
    }
    return std::nullopt;
}

// How an order's units leave one column of the stock row for another.
struct UnitsMoved {
    int64_t available = 0, held = 0, sold = 0;
};

inline UnitsMoved units_moved(HoldState from, HoldState to, int64_t units) {
    using enum HoldState;
    if (from == to || (from == open && to == finished)) return {};
    if (from == held && to == sold) return {0, -units, units};
    if (from == held && to == finished) return {units, -units, 0};
    if (from == sold && to == finished) return {units, 0, -units};
    CHECK(from == open && to == sold);  // what has ended comes back through the book alone
    return {-units, 0, units};
}

// What a fresh order has of its units.
inline HoldState first_hold(StockPolicy policy) {
    if (policy == StockPolicy::at_payment) return HoldState::open;
    return policy == StockPolicy::at_order ? HoldState::sold : HoldState::held;
}

inline std::optional<EventKind> event_of_step(SaleState from, SaleState to) {
    if (from == to) return std::nullopt;
    switch (to) {
        case SaleState::open:
            return EventKind::sale_opened;
        case SaleState::paused:
            return EventKind::sale_paused;
        case SaleState::closed:
            return EventKind::sale_closed;
        case SaleState::reconciled:
            return EventKind::sale_reconciled;
        default:
            return std::nullopt;
    }
}

inline constexpr std::string_view reason_no_unit = "no unit was left";
inline constexpr std::string_view reason_limit = "the buyer's limit was reached";
inline constexpr std::string_view reason_late = "it could not be confirmed in time";
inline constexpr std::string_view reason_not_continued = "what it continues had ended otherwise";

// A dead letter's record, as the operator reads it.
inline std::string text_of(const LedgerRecord& record) {
    if (const auto& seal = record.seal) {
        return fmt::format("seal sale={} item={} epoch={}", seal->sale.view(), seal->item.view(),
                           seal->epoch);
    }
    if (!record.entry) return record.raw;
    const LedgerEntry& entry = *record.entry;
    const Acceptance& acceptance = entry.acceptance;
    return fmt::format("purchase={} sale={} item={} buyer={} units={} sequence={}", acceptance.purchase.hex(),
                       entry.sale.view(), entry.item.view(), acceptance.buyer.view(), acceptance.units,
                       acceptance.sequence);
}

}  // namespace doorbuster
