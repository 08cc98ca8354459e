#include "config/reload.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/log.hpp"

namespace doorbuster {

namespace {

// Visits each option that differs, with its new declaration.
template <class Visit>
void each_change(const Config& running, const Config& fresh, Visit&& visit) {
    const auto before = running.options(), after = fresh.options();
    CHECK(before.size() == after.size());
    for (size_t i = 0; i < before.size(); ++i) {
        if (!after[i]->has_value_of(*before[i])) visit(*after[i]);
    }
}

}  // namespace

ConfigChanges changes_between(const Config& running, const Config& fresh) {
    ConfigChanges changes;
    each_change(running, fresh, [&](const AnyOption& option) {
        (option.is_live() ? changes.live : changes.needs_restart).push_back(option.name());
    });
    return changes;
}

ReloadResult Reloader::reload() {
    using boost::system::in_place_error;
    auto fresh = read_();
    if (!fresh) {
        for (const std::string& fault : fresh.error()) {
            log_error("the configuration was not reloaded: it is faulty", {{"fault", fault}});
        }
        return ReloadResult(in_place_error, std::move(fresh.error()));
    }
    ConfigChanges changes = changes_between(running_, *fresh);
    each_change(running_, *fresh, [&](const AnyOption& option) {
        if (option.is_live()) running_.find(option.name())->copy_from(option);
    });
    if (!changes.live.empty()) apply_(running_);
    log_info("configuration reloaded",
             {{"live", fmt::format("{}", fmt::join(changes.live, " "))},
              {"needs_restart", fmt::format("{}", fmt::join(changes.needs_restart, " "))}});
    return changes;
}

}  // namespace doorbuster
