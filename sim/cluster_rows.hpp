// What goes into a simulated statement and what comes out of it, in PostgreSQL's binary format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store_cluster/pg_values.hpp"

namespace doorbuster::sim::cluster {

// The parameters of a statement, from $1 on.
class PgArguments {
public:
    explicit PgArguments(const pg::Params& params) : values_(params.values()) {}

    int64_t integer(size_t number) const;
    std::string text(size_t number) const { return at(number).bytes; }
    bool is_null(size_t number) const { return at(number).is_null; }
    PurchaseId purchase(size_t number) const;
    std::vector<std::optional<int64_t>> integers(size_t number) const;
    std::vector<std::optional<std::string>> texts(size_t number) const;
    std::vector<std::optional<PurchaseId>> purchases(size_t number) const;

private:
    const pg::Params::Value& at(size_t number) const { return values_.at(number - 1); }

    const std::vector<pg::Params::Value>& values_;
};

// Rows of an answer, cell by cell.
class PgAnswer {
public:
    explicit PgAnswer(int columns) : columns_(columns) {}

    PgAnswer& add(int64_t value);
    PgAnswer& add(std::string_view text);
    PgAnswer& add(const char* text) { return add(std::string_view(text)); }
    PgAnswer& add(const PurchaseId& id);
    PgAnswer& add_flag(bool value);
    PgAnswer& add_null();
    PgAnswer& add(const std::optional<int64_t>& value) { return value ? add(*value) : add_null(); }
    PgAnswer& add(const std::optional<std::string>& text) {
        return text ? add(std::string_view(*text)) : add_null();
    }

    // `changed`: what an UPDATE … RETURNING did.
    pg::Rows rows(size_t changed = 0) const;

private:
    const int columns_;
    std::vector<std::optional<std::string>> cells_;
};

}  // namespace doorbuster::sim::cluster
