#include "funnel/level.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr std::array<std::string_view, 4> names{"normal", "no_browse", "purchase_only", "closed"};
constexpr int since_shift = 7;

}  // namespace

std::string_view name_of(Level level) {
    CHECK(static_cast<size_t>(level) < names.size());
    return names[static_cast<size_t>(level)];
}

std::optional<Level> level_of(std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Level>(found - names.begin());
}

std::optional<OperatorLevel> OperatorLevel::from(std::string_view text) {
    if (text == "auto") return OperatorLevel{};
    const auto level = level_of(text);
    if (!level) return std::nullopt;
    return OperatorLevel{level};
}

std::string_view name_of(LevelSwitch::SetBy who) {
    switch (who) {
        case LevelSwitch::SetBy::nobody:
            return "none";
        case LevelSwitch::SetBy::detector:
            return "detector";
        case LevelSwitch::SetBy::by_operator:
            return "operator";
    }
    return "";
}

Level LevelSwitch::Asked::in_force() const {
    return std::max(by_operator.floor.value_or(Level::normal), by_detector);
}

uint64_t LevelSwitch::pack(const Asked& asked, Instant since) {
    const auto bits = [](Level level) { return static_cast<uint64_t>(level); };
    const uint64_t floor = bits(asked.by_operator.floor.value_or(Level::normal)) << 4;
    const uint64_t has_floor = (asked.by_operator.floor ? 1u : 0u) << 6;
    return bits(asked.in_force()) | bits(asked.by_detector) << 2 | floor | has_floor |
           static_cast<uint64_t>(to_ms(since)) << since_shift;
}

LevelSwitch::Asked LevelSwitch::asked_in(uint64_t word) {
    Asked asked;
    asked.by_detector = static_cast<Level>(word >> 2 & 3);
    if ((word >> 6 & 1) != 0) asked.by_operator.floor = static_cast<Level>(word >> 4 & 3);
    return asked;
}

LevelSwitch::State LevelSwitch::state() const {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    const Asked asked = asked_in(word);
    const Level level = asked.in_force();
    State state{.level = level,
                .since = from_ms(static_cast<int64_t>(word >> since_shift)),
                .asked = asked.by_operator,
                .detected = asked.by_detector};
    if (asked.by_operator.floor == level) {
        state.set_by = SetBy::by_operator;
    } else if (level != Level::normal) {
        state.set_by = SetBy::detector;
    }
    return state;
}

template <class Change>
void LevelSwitch::change(Instant now, Change&& apply) {
    uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        Asked asked = asked_in(seen);
        const Level before = asked.in_force();
        apply(asked);
        const bool steps = asked.in_force() != before;
        const Instant since = steps ? now : from_ms(static_cast<int64_t>(seen >> since_shift));
        if (!word_.compare_exchange_weak(seen, pack(asked, since), std::memory_order_relaxed)) continue;
        if (steps) changes_total_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
}

void LevelSwitch::set_by_operator(OperatorLevel level, Instant now) {
    change(now, [&](Asked& asked) { asked.by_operator = level; });
}

void LevelSwitch::set_by_detector(Level level, Instant now) {
    change(now, [&](Asked& asked) { asked.by_detector = level; });
}

}  // namespace doorbuster
