#include "cli/table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace doorbuster {

namespace {

struct Point {
    uint32_t value = 0;
    size_t bytes = 0;  // 0: not UTF-8
};

Point next_point(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
    uint32_t value = first & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3fu);
    }
    return {value, bytes};
}

bool is_control(uint32_t value) {
    return value < 0x20 || (value >= 0x7f && value < 0xa0);
}

// East Asian and emoji characters take two columns; the rare ones in between may be off by one.
bool is_wide(uint32_t value) {
    constexpr std::array<std::array<uint32_t, 2>, 7> ranges{{{0x1100, 0x115f},
                                                             {0x2e80, 0xa4cf},
                                                             {0xac00, 0xd7a3},
                                                             {0xf900, 0xfaff},
                                                             {0xfe30, 0xfe6f},
                                                             {0xff00, 0xff60},
                                                             {0x1f300, 0x3fffd}}};
    return std::ranges::any_of(ranges,
                               [&](const auto& range) { return value >= range[0] && value <= range[1]; });
}

}  // namespace

std::string printable(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string safe;
    while (!text.empty()) {
        const Point point = next_point(text);
        const size_t bytes = std::max<size_t>(point.bytes, 1);
        if (point.bytes == 0 || is_control(point.value)) {
            for (const char c : text.substr(0, bytes)) {
                const auto byte = static_cast<unsigned char>(c);
                safe += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
            }
        } else {
            safe += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
    }
    return safe;
}

size_t columns_of(std::string_view text) {
    size_t columns = 0;
    while (!text.empty()) {
        const Point point = next_point(text);
        columns += is_wide(point.value) ? 2 : 1;
        text.remove_prefix(std::max<size_t>(point.bytes, 1));
    }
    return columns;
}

void Table::add(Row row) {
    if (widths_.size() < row.size()) widths_.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
        row[i] = printable(row[i]);
        widths_[i] = std::max(widths_[i], columns_of(row[i]));
    }
    rows_.push_back(std::move(row));
}

std::string Table::text() const {
    std::string all;
    for (const Row& row : rows_) {
        std::string line;
        size_t gap = 0;
        for (size_t i = 0; i < row.size(); ++i) {
            if (!row[i].empty()) line += std::string(gap, ' ') + row[i];
            gap = (row[i].empty() ? gap + widths_[i] : widths_[i] - columns_of(row[i])) + 2;
        }
        all += line + '\n';
    }
    return all;
}

}  // namespace doorbuster
