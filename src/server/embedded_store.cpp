#include "server/embedded_store.hpp"

namespace doorbuster {

StoreResult<EmbeddedStore> EmbeddedStore::open(const std::string& path) {
    auto folder = DataFolder::hold(path);
    if (!folder) return folder.error();
    auto ledger = SqliteLedger::open(folder->ledger_path());
    if (!ledger) return ledger.error();
    auto orders = SqliteOrders::open(folder->orders_path());
    if (!orders) return orders.error();
    auto worker_ledger = SqliteLedgerReader::open(folder->ledger_path(), (*ledger)->tail());
    if (!worker_ledger) return worker_ledger.error();
    return EmbeddedStore{*std::move(folder), *std::move(ledger), *std::move(orders),
                         *std::move(worker_ledger)};
}

StoreResult<std::vector<Lookups::Readers>> EmbeddedStore::lookup_readers(size_t threads) const {
    std::vector<Lookups::Readers> readers;
    for (size_t i = 0; i < threads; ++i) {
        auto of_ledger = SqliteLedgerReader::open(folder.ledger_path());
        if (!of_ledger) return of_ledger.error();
        auto of_orders = SqliteOrdersReader::open(folder.orders_path());
        if (!of_orders) return of_orders.error();
        readers.push_back({*std::move(of_ledger), *std::move(of_orders)});
    }
    return readers;
}

StoreResult<audit::AuditDesk::Readers> EmbeddedStore::audit_readers() const {
    auto of_ledger = SqliteLedgerReader::open(folder.ledger_path());
    if (!of_ledger) return of_ledger.error();
    auto of_orders = SqliteOrdersReader::open(folder.orders_path());
    if (!of_orders) return of_orders.error();
    auto history = SqliteAuditReader::open(folder.orders_path());
    if (!history) return history.error();
    return audit::AuditDesk::Readers{*std::move(of_ledger), *std::move(of_orders), *std::move(history)};
}

}  // namespace doorbuster
