// Paths and queries, taken apart by hand: views into the request, no allocation.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace doorbuster {

// "/v1/sales/drop" -> {"v1", "sales", "drop"}. A path with more parts than any call
// has, an empty part or a trailing slash matches none: its count is 0.
class PathParts {
public:
    static constexpr size_t parts_max = 4;

    explicit PathParts(std::string_view path) {
        if (path.empty() || path.front() != '/') return;
        size_t count = 0;
        for (std::string_view rest = path.substr(1);;) {
            const size_t end = rest.find('/');
            const std::string_view part = rest.substr(0, end);
            if (part.empty() || count == parts_max) return;
            parts_[count++] = part;
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
        }
        count_ = count;
    }

    size_t size() const { return count_; }
    std::string_view operator[](size_t index) const { return parts_[index]; }

private:
    std::array<std::string_view, parts_max> parts_;
    size_t count_ = 0;
};

// The value of the first field with this name: "limit" in "limit=20&before=7".
inline std::optional<std::string_view> query_field(std::string_view query, std::string_view name) {
    while (!query.empty()) {
        const size_t end = query.find('&');
        const std::string_view field = query.substr(0, end);
        const size_t equals = field.find('=');
        if (field.substr(0, equals) == name) {
            return equals == std::string_view::npos ? std::string_view{} : field.substr(equals + 1);
        }
        if (end == std::string_view::npos) break;
        query.remove_prefix(end + 1);
    }
    return std::nullopt;
}

// All of the text is one decimal number that fits, without a sign or a space.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace doorbuster
