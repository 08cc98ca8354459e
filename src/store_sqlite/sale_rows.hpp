// Sales and their items, as rows.
#pragma once

#include <optional>
#include <vector>

#include "store/orders.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster::sqlite {

// All sales, or the one named.
std::vector<SaleRecord> read_sales(Connection&, std::optional<SaleId> only = {});

void insert_sale(Connection&, const Sale&, SaleState, Instant now);
void insert_items(Connection&, const Sale&);

// Writes everything but the items; false if the version is another. Raises the version.
bool update_sale(Connection&, const SaleRecord& changed, Instant now);

}  // namespace doorbuster::sqlite
