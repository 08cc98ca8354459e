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
    const auto entries = parse_lists(text->value_or(""));
    if (!entries)
        return StoreError{StoreErrc::damaged, "reading the operator's lists", entries.error().front()};
    for (const ListEntry& entry : *entries) by_operator_.insert_or_assign(key_of(entry), entry);
    publish([] {});
    return {};
}

bool RiskDesk::set_file_entries(std::vector<ListEntry> entries) {
    if (entries.size() + by_operator_.size() > RiskLists::entries_max) return false;
    in_file_ = std::move(entries);
    publish([] {});
    return true;
}

void RiskDesk::put(const ListEntry& entry, Done done) {
    const std::string key = key_of(entry);
    const auto found = by_operator_.find(key);
    if (found == by_operator_.end() && by_operator_.size() + in_file_.size() == RiskLists::entries_max) {
        return done(error_of(StoreErrc::not_allowed, "the lists are full: remove entries first"));
    }
    std::optional<ListEntry> before;
    if (found != by_operator_.end()) before = found->second;
    by_operator_.insert_or_assign(key, entry);
    if (auto kept = keep(); !kept) {
        if (before) by_operator_.insert_or_assign(key, *before);
        if (!before) by_operator_.erase(key);
        return done(kept.error());
    }
    log_info("list entry added", {{"entry", entry.line()}});
    publish([done = std::move(done)] { done({}); });
}

void RiskDesk::remove(const ListEntry& entry, Done done) {
    const auto found = by_operator_.find(key_of(entry));
    if (found == by_operator_.end() || found->second.standing != entry.standing) {
        const bool in_file = std::ranges::any_of(
            in_file_, [line = entry.line()](const ListEntry& other) { return other.line() == line; });
        if (in_file) {
            return done(
                error_of(StoreErrc::not_allowed,
                         "the entry is in risk.lists_file: remove it there, it is read again by itself"));
        }
        return done(error_of(StoreErrc::not_found, "no such entry is on the list"));
    }
    auto taken = by_operator_.extract(found);
    if (auto kept = keep(); !kept) {
        by_operator_.insert(std::move(taken));
        return done(kept.error());
    }
    log_info("list entry removed", {{"entry", entry.line()}});
    publish([done = std::move(done)] { done({}); });
}

void RiskDesk::each(const std::function<void(const Listed&)>& visit) const {
    for (const ListEntry& entry : in_file_) visit({entry, true});
    for (const auto& [key, entry] : by_operator_) visit({entry, false});
}

StoreResult<void> RiskDesk::keep() {
    std::string text;
    for (const auto& [key, entry] : by_operator_) text += entry.line() + '\n';
    return settings_.put(lists_setting, text);
}

void RiskDesk::publish(std::function<void()> shown) const {
    std::vector<ListEntry> all = in_file_;
    for (const auto& [key, entry] : by_operator_) all.push_back(entry);
    publish_(std::make_shared<const RiskLists>(all), std::move(shown));
}

}  // namespace doorbuster
