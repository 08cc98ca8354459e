#include "funnel/level_setting.hpp"

#include "base/log.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view level_key = "level";

StoreResult<OperatorLevel> read_level(Settings& settings) {
    const auto text = settings.get(level_key);
    if (!text) return text.error();
    const auto kept = OperatorLevel::from(text->value_or("auto"));
    if (!kept) return StoreError{StoreErrc::damaged, "reading the operator's level", **text};
    return *kept;
}

}  // namespace

StoreResult<void> restore_level(Settings& settings, LevelSwitch& level, Instant now) {
    const auto kept = read_level(settings);
    if (!kept) return kept.error();
    level.set_by_operator(*kept, now);
    if (level.in_force() != Level::normal) {
        log_warn("starting with a level that the operator set before",
                 {{"level", name_of(level.in_force())}});
    }
    return {};
}

StoreResult<void> follow_level(Settings& settings, LevelSwitch& level, Instant now) {
    const auto kept = read_level(settings);
    if (!kept) return kept.error();
    if (*kept == level.state().asked) return {};
    level.set_by_operator(*kept, now);
    log_warn("the operator set the level elsewhere",
             {{"asked", kept->text()}, {"in_force", name_of(level.in_force())}});
    return {};
}

StoreResult<void> change_level(Settings& settings, LevelSwitch& level, OperatorLevel to, Instant now) {
    if (auto kept = settings.put(level_key, to.text()); !kept) return kept.error();
    level.set_by_operator(to, now);
    log_warn("the operator set the level", {{"asked", to.text()}, {"in_force", name_of(level.in_force())}});
    return {};
}

}  // namespace doorbuster
