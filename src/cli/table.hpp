// Table: rows of text in columns that line up, for a person at a terminal.
//
// Text from outside is made harmless first: no name can move the cursor or forge a row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doorbuster {

// Control characters and broken UTF-8 as \x1b; the rest as it is.
std::string printable(std::string_view text);

// Columns on a terminal. REQUIRES: printable text.
size_t columns_of(std::string_view text);

class Table {
public:
    using Row = std::vector<std::string>;

    Table() = default;
    explicit Table(Row headings) { add(std::move(headings)); }

    void add(Row row);
    std::string text() const;

private:
    std::vector<Row> rows_;
    std::vector<size_t> widths_;
};

}  // namespace doorbuster
