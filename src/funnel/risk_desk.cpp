#include "funnel/risk_desk.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view lists_setting = "risk.lists";

StoreError error_of(StoreErrc code, std::string detail) {
    return {code, "changing the lists", std::move(detail)};
}

}  // namespace

std::string RiskDesk::key_of(const ListEntry& entry) {
    return std::string(entry.kind()) + ' ' + entry.value();
}

StoreResult<void> RiskDesk::load() {
    const auto text = settings_.get(lists_setting);
    if (!text) return text.error();
    if (*text) {
        if (const auto taken = take_over(**text); !taken) return taken.error();
    }
    publish([] {});
    return {};
}

StoreResult<void> RiskDesk::look() {
    const auto text = kept_ ? settings_.get_unless(lists_setting, *kept_) : settings_.get(lists_setting);
    if (!text) return text.error();
    if (!*text) return {};
    if (const auto taken = take_over(**text); !taken) return taken.error();
    log_info("the lists were changed elsewhere", {{"entries", by_operator_.size()}});
    publish([] {});
    return {};
}

StoreResult<void> RiskDesk::take_over(const std::string& text) {
    const auto entries = parse_lists(text);
    if (!entries)
        return StoreError{StoreErrc::damaged, "reading the operator's lists", entries.error().front()};
    if (entries->size() + in_file_.size() > RiskLists::entries_max) {
        return StoreError{StoreErrc::not_allowed, "reading the operator's lists",
                          "they are too long together with risk.lists_file"};
    }
    by_operator_.clear();
    for (const ListEntry& entry : *entries) by_operator_.insert_or_assign(key_of(entry), entry);
    kept_ = sha256(text);
    return {};
}

bool RiskDesk::set_file_entries(std::vector<ListEntry> entries) {
    if (entries.size() + by_operator_.size() > RiskLists::entries_max) return false;
    in_file_ = std::move(entries);
    publish([] {});
    return true;
}

StoreResult<void> RiskDesk::change(const Edit& edit) {
    Entries edited;
    std::string text;
    const auto seen = kept_;
    const auto changed = settings_.change(
        lists_setting, seen, [&](const std::optional<std::string>& other) -> StoreResult<std::string> {
            if (other) {
                if (const auto taken = take_over(*other); !taken) return taken.error();
            }
            edited = by_operator_;
            if (const auto allowed = edit(edited); !allowed) return allowed.error();
            text.clear();
            for (const auto& [key, entry] : edited) text += entry.line() + '\n';
            return text;
        });
    if (!changed) {
        if (kept_ != seen) publish([] {});  // what others had changed counts all the same
        return changed.error();
    }
    by_operator_ = std::move(edited);
    kept_ = sha256(text);
    return {};
}

void RiskDesk::put(const ListEntry& entry, Done done) {
    const auto changed = change([&](Entries& entries) -> StoreResult<void> {
        entries.insert_or_assign(key_of(entry), entry);
        if (entries.size() + in_file_.size() <= RiskLists::entries_max) return {};
        return error_of(StoreErrc::not_allowed, "the lists are full: remove entries first");
    });
    if (!changed) return done(changed.error());
    log_info("list entry added", {{"entry", entry.line()}});
    publish([done = std::move(done)] { done({}); });
}

void RiskDesk::remove(const ListEntry& entry, Done done) {
    const auto changed = change([&](Entries& entries) -> StoreResult<void> {
        const auto found = entries.find(key_of(entry));
        if (found != entries.end() && found->second.standing == entry.standing) {
            entries.erase(found);
            return {};
        }
        const bool in_file = std::ranges::any_of(
            in_file_, [line = entry.line()](const ListEntry& other) { return other.line() == line; });
        if (!in_file) return error_of(StoreErrc::not_found, "no such entry is on the list");
        return error_of(StoreErrc::not_allowed,
                        "the entry is in risk.lists_file: remove it there, it is read again by itself");
    });
    if (!changed) return done(changed.error());
    log_info("list entry removed", {{"entry", entry.line()}});
    publish([done = std::move(done)] { done({}); });
}

void RiskDesk::each(const std::function<void(const Listed&)>& visit) const {
    for (const ListEntry& entry : in_file_) visit({entry, true});
    for (const auto& [key, entry] : by_operator_) visit({entry, false});
}

void RiskDesk::publish(std::function<void()> shown) const {
    std::vector<ListEntry> all = in_file_;
    for (const auto& [key, entry] : by_operator_) all.push_back(entry);
    publish_(std::make_shared<const RiskLists>(all), std::move(shown));
}

}  // namespace doorbuster
