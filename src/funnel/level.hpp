// Level: how much of its work the server leaves out, so that buying goes on.
//
//   normal         everything is answered
//   no_browse      the catalogue comes from prepared bytes only, order lists are refused
//   purchase_only  browsing is refused as well
//   closed         everything is refused; the page says so
//
// The operator's word is a floor under the detector's: the level in force is the higher of the
// two, and `auto` takes the floor away. A winner's look-up of one purchase or order and the way
// to pay or cancel stay open until `closed`: they are what a yes was given for.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace doorbuster {

enum class Level : uint8_t { normal, no_browse, purchase_only, closed };

enum class RequestKind : uint8_t {
    time,
    browse,    // sales, stock, pages
    page,      // a sale's page: nobody buys without it, and it is ready
    own,       // one purchase or order of the buyer
    own_list,  // the buyer's orders
    check,     // challenges and tokens
    purchase,
    settle,  // paying or cancelling an order
};

constexpr bool passes(Level level, RequestKind kind) {
    switch (level) {
        case Level::normal:
            return true;
        case Level::no_browse:
            return kind != RequestKind::own_list;
        case Level::purchase_only:
            return kind != RequestKind::own_list && kind != RequestKind::browse;
        case Level::closed:
            return false;
    }
    return false;
}

// Whether what browses must be answered without building anything.
constexpr bool is_from_cache_only(Level level) {
    return level >= Level::no_browse;
}

std::string_view name_of(Level);
std::optional<Level> level_of(std::string_view name);

// What the operator asked for: "auto", or the name of a level. Nothing for any other text.
struct OperatorLevel {
    std::optional<Level> floor;  // none: auto

    static std::optional<OperatorLevel> from(std::string_view text);
    std::string_view text() const { return floor ? name_of(*floor) : "auto"; }
    friend bool operator==(const OperatorLevel&, const OperatorLevel&) = default;
};

// LevelSwitch: the level in force, for all gate threads.
//
// Thread safety: any thread, lock-free. All of it is one word, so that nobody ever sees a
// level with another one's reason or time.
class LevelSwitch {
public:
    enum class SetBy : uint8_t { nobody, detector, by_operator };

    struct State {
        Level level = Level::normal;
        SetBy set_by = SetBy::nobody;  // the operator, where both ask for the same
        Instant since{};               // when the level in force last changed
        OperatorLevel asked{};
        Level detected = Level::normal;
    };

    explicit LevelSwitch(Instant now) : word_(pack({}, now)) {}

    Level in_force() const { return static_cast<Level>(word_.load(std::memory_order_relaxed) & 3); }
    State state() const;

    void set_by_operator(OperatorLevel, Instant now);
    void set_by_detector(Level, Instant now);

    uint64_t changes_total() const { return changes_total_.load(std::memory_order_relaxed); }

private:
    struct Asked {
        OperatorLevel by_operator{};
        Level by_detector = Level::normal;

        Level in_force() const;
    };

    // Bits from the lowest: level in force (2), detector's (2), operator's (2), whether the
    // operator asked (1), milliseconds since 1970 (57).
    static uint64_t pack(const Asked&, Instant since);
    static Asked asked_in(uint64_t word);

    template <class Change>
    void change(Instant now, Change&& apply);

    std::atomic<uint64_t> word_;
    std::atomic<uint64_t> changes_total_{0};
};

std::string_view name_of(LevelSwitch::SetBy);  // "operator", "detector", "none"

}  // namespace doorbuster
