// EmbeddedStore: the data folder and its two databases, opened for each thread that uses them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audit/audit_desk.hpp"
#include "orders/lookups.hpp"
#include "store_sqlite/data_folder.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"

namespace doorbuster {

struct EmbeddedStore {
    DataFolder folder;
    std::unique_ptr<SqliteLedger> ledger;               // the owner thread's
    std::unique_ptr<SqliteOrders> orders;               // the orders thread's
    std::unique_ptr<SqliteLedgerReader> worker_ledger;  // the order worker's

    [[nodiscard]] static StoreResult<EmbeddedStore> open(const std::string& path);

    [[nodiscard]] StoreResult<std::vector<Lookups::Readers>> lookup_readers(size_t threads) const;
    [[nodiscard]] StoreResult<audit::AuditDesk::Readers> audit_readers() const;
};

}  // namespace doorbuster
