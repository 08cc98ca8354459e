// Option: one setting's name, default, allowed values and trade-off, declared once.
//
//   Option<uint32_t> threads{*this, "threads", 0, {.max = 256}, "Gate threads. 0 takes one per core."};
//
// That declaration feeds reading from every source, the range check, `config print`,
// conf/doorbuster.toml and what a reload may change. An option adds itself to its group, so
// that nobody keeps a second list.
//
// Thread safety: none while values are set; const calls from any thread afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/rules.hpp"

namespace doorbuster {

// In rising order of precedence.
enum class Source : uint8_t { built_in, file, environment, flag };

std::string_view name_of(Source);

// Whether a running server takes a new value over, or only the next start does.
enum class Reload : uint8_t { restart, live };

struct Origin {
    Source source = Source::built_in;
    std::string where;  // "doorbuster.toml:12", "DOORBUSTER_SERVER__LISTEN", "--listen"
};

// A value as a source gives it. The environment and flags know only text, which the
// option reads by its own type; a file has types, and they must match.
struct PlainText {
    std::string text;
};
struct UnusableValue {
    std::string kind;  // "an array"
};
using RawValue = std::variant<PlainText, bool, int64_t, std::string, UnusableValue>;

std::string shown(const RawValue&);

class AnyOption;

// A table of the file: [server].
struct OptionGroup {
    OptionGroup(std::vector<OptionGroup*>& groups, std::string_view group_name) : name(group_name) {
        groups.push_back(this);
    }
    OptionGroup(const OptionGroup&) = delete;  // options point here; Config copies values instead
    OptionGroup& operator=(const OptionGroup&) = delete;

    std::string_view name;
    std::vector<AnyOption*> options;
};

class AnyOption {
public:
    AnyOption(OptionGroup& group, std::string_view key, std::string_view text, Reload reload);
    virtual ~AnyOption() = default;
    AnyOption(const AnyOption&) = delete;
    AnyOption& operator=(const AnyOption&) = delete;

    const std::string& name() const { return name_; }  // "server.listen"
    std::string_view key() const { return key_; }      // "listen"
    std::string_view text() const { return text_; }    // the trade-off, one or two sentences
    const Origin& origin() const { return origin_; }
    bool is_live() const { return reload_ == Reload::live; }
    std::string environment_name() const;  // "DOORBUSTER_SERVER__LISTEN"

    virtual bool is_secret() const { return false; }
    virtual bool is_text() const { return false; }  // written in quotes
    virtual std::string allowed() const = 0;        // "a whole number from 0 to 256"
    virtual std::string value_text() const = 0;     // never a secret's
    virtual std::string default_text() const = 0;

    // What is wrong with the value; nothing, and the value is taken, if it is allowed.
    [[nodiscard]] std::optional<std::string> set(const RawValue&, Origin);

    // REQUIRES: the same declaration, of another Config.
    virtual void copy_from(const AnyOption&) = 0;
    virtual bool has_value_of(const AnyOption&) const = 0;

protected:
    virtual std::optional<std::string> take(const RawValue&) = 0;
    Origin origin_;

private:
    const std::string name_;
    const std::string_view key_, text_;
    const Reload reload_;
};

template <class T>
class Option final : public AnyOption {
public:
    Option(OptionGroup& group, std::string_view key, T fallback, Rule<T> rule, std::string_view text,
           Reload reload = Reload::restart)
        : AnyOption(group, key, text, reload), rule_(rule), default_(fallback), value_(fallback) {}

    const T& value() const { return value_; }
    operator const T&() const { return value_; }  // an option reads like the value it holds

    bool is_secret() const override { return rule_.is_secret(); }
    bool is_text() const override { return std::is_same_v<T, std::string>; }
    std::string allowed() const override { return rule_.allowed(); }
    std::string value_text() const override {
        if (is_secret()) return to_text(value_).empty() ? "(not set)" : "***";
        return to_text(value_);
    }
    std::string default_text() const override { return to_text(default_); }

    void copy_from(const AnyOption& other) override {
        const auto& same = static_cast<const Option&>(other);
        value_ = same.value_;
        origin_ = same.origin_;
    }
    bool has_value_of(const AnyOption& other) const override {
        return value_ == static_cast<const Option&>(other).value_;
    }

private:
    std::optional<std::string> take(const RawValue& raw) override {
        std::optional<T> read;
        if (const auto* plain = std::get_if<PlainText>(&raw)) {
            read = from_text<T>(plain->text);
        } else {
            read = from_typed(raw);
        }
        if (!read) return "must be " + allowed();
        if (auto reason = rule_.fault(*read)) return reason;
        value_ = *std::move(read);
        return std::nullopt;
    }

    static std::optional<T> from_typed(const RawValue& raw) {
        if constexpr (std::is_same_v<T, uint32_t>) {
            const auto* number = std::get_if<int64_t>(&raw);
            if (!number || *number < 0 || *number > UINT32_MAX) return std::nullopt;
            return static_cast<uint32_t>(*number);
        } else {
            const auto* same = std::get_if<T>(&raw);
            return same ? std::optional<T>(*same) : std::nullopt;
        }
    }

    const Rule<T> rule_;
    const T default_;
    T value_;
};

}  // namespace doorbuster
