#include "config/option.hpp"

#include <algorithm>
#include <utility>

namespace doorbuster {

std::string_view name_of(Source source) {
    switch (source) {
        case Source::built_in:
            return "default";
        case Source::file:
            return "file";
        case Source::environment:
            return "environment";
        case Source::flag:
            return "flag";
    }
    return "";
}

std::string shown(const RawValue& raw) {
    struct Shown {
        std::string operator()(const PlainText& plain) const { return '"' + plain.text + '"'; }
        std::string operator()(bool yes) const { return to_text(yes); }
        std::string operator()(int64_t number) const { return std::to_string(number); }
        std::string operator()(const std::string& text) const { return '"' + text + '"'; }
        std::string operator()(const UnusableValue& value) const { return value.kind; }
    };
    return std::visit(Shown{}, raw);
}

AnyOption::AnyOption(OptionGroup& group, std::string_view key, std::string_view text, Reload reload)
    : name_(std::string(group.name) + '.' + std::string(key)), key_(key), text_(text), reload_(reload) {
    group.options.push_back(this);
}

std::string AnyOption::environment_name() const {
    // Two underscores for the dot: keys have underscores of their own.
    std::string upper = "DOORBUSTER_";
    for (const char c : name_) {
        if (c == '.') {
            upper += "__";
        } else {
            upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        }
    }
    return upper;
}

std::optional<std::string> AnyOption::set(const RawValue& raw, Origin origin) {
    if (auto reason = take(raw)) {
        const std::string value = is_secret() ? "***" : shown(raw);
        return origin.where + ": " + name_ + " = " + value + ": " + *reason;
    }
    origin_ = std::move(origin);
    return std::nullopt;
}

}  // namespace doorbuster
