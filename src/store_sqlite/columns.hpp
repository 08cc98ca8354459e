// How ids and states stand in the tables.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>

#include "sale/ids.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster::sqlite {

inline std::optional<PurchaseId> purchase_of(std::string_view blob) {
    PurchaseId id;
    if (blob.size() != id.bytes.size()) return std::nullopt;
    std::memcpy(id.bytes.data(), blob.data(), blob.size());
    return id;
}

inline Statement& bind(Statement& statement, int at, const PurchaseId& id) {
    return statement.bind_blob(at, id.bytes.data(), id.bytes.size());
}

}  // namespace doorbuster::sqlite
