#include "sim/cluster_rows.hpp"

#include <cstring>

#include "base/check.hpp"

namespace doorbuster::sim::cluster {

namespace {

uint64_t big_endian(std::string_view bytes) {
    uint64_t number = 0;
    for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
}

PurchaseId purchase_of(std::string_view bytes) {
    PurchaseId id;
    CHECK(bytes.size() == id.bytes.size());
    std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
    return id;
}

// An array of one dimension: dimensions, flag, type; count, first index; then length and bytes of each.
std::vector<std::optional<std::string>> elements_of(std::string_view bytes) {
    std::vector<std::optional<std::string>> elements;
    constexpr size_t head = 12, whole_head = 20;
    if (bytes.size() <= head) return elements;
    for (size_t at = whole_head; at < bytes.size();) {
        const auto size = static_cast<int32_t>(big_endian(bytes.substr(at, 4)));
        at += 4;
        if (size < 0) {
            elements.emplace_back();
            continue;
        }
        elements.emplace_back(std::string(bytes.substr(at, static_cast<size_t>(size))));
        at += static_cast<size_t>(size);
    }
    return elements;
}

template <class T, class Make>
std::vector<std::optional<T>> made(std::string_view bytes, Make make) {
    std::vector<std::optional<T>> all;
    for (const auto& one : elements_of(bytes)) {
        all.push_back(one ? std::optional<T>(make(*one)) : std::nullopt);
    }
    return all;
}

}  // namespace

int64_t PgArguments::integer(size_t number) const {
    return static_cast<int64_t>(big_endian(at(number).bytes));
}

PurchaseId PgArguments::purchase(size_t number) const {
    return purchase_of(at(number).bytes);
}

std::vector<std::optional<int64_t>> PgArguments::integers(size_t number) const {
    return made<int64_t>(at(number).bytes,
                         [](const std::string& one) { return static_cast<int64_t>(big_endian(one)); });
}

std::vector<std::optional<std::string>> PgArguments::texts(size_t number) const {
    return elements_of(at(number).bytes);
}

std::vector<std::optional<PurchaseId>> PgArguments::purchases(size_t number) const {
    return made<PurchaseId>(at(number).bytes, [](const std::string& one) { return purchase_of(one); });
}

PgAnswer& PgAnswer::add(int64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
    cells_.emplace_back(std::move(bytes));
    return *this;
}

PgAnswer& PgAnswer::add(std::string_view text) {
    cells_.emplace_back(std::string(text));
    return *this;
}

PgAnswer& PgAnswer::add(const PurchaseId& id) {
    cells_.emplace_back(std::string(id.bytes.begin(), id.bytes.end()));
    return *this;
}

PgAnswer& PgAnswer::add_flag(bool value) {
    cells_.emplace_back(std::string(1, static_cast<char>(value)));
    return *this;
}

PgAnswer& PgAnswer::add_null() {
    cells_.emplace_back();
    return *this;
}

pg::Rows PgAnswer::rows(size_t changed) const {
    PGresult* result = PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK);
    CHECK(result != nullptr);
    char name[] = "column";
    std::vector<PGresAttDesc> columns(static_cast<size_t>(columns_));
    for (PGresAttDesc& column : columns) {
        column = {};
        column.name = name;
        column.format = 1;
    }
    CHECK(PQsetResultAttrs(result, columns_, columns.data()) != 0);
    CHECK(cells_.size() % static_cast<size_t>(columns_) == 0);
    for (size_t i = 0; i < cells_.size(); ++i) {
        const int row = static_cast<int>(i) / columns_, column = static_cast<int>(i) % columns_;
        const auto& cell = cells_[i];
        std::string bytes = cell.value_or("");
        CHECK(PQsetvalue(result, row, column, bytes.data(), cell ? static_cast<int>(bytes.size()) : -1) != 0);
    }
    return {result, "SELECT", changed};
}

}  // namespace doorbuster::sim::cluster
