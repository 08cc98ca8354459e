#include "store_cluster/ledger_pin.hpp"

namespace doorbuster {

StoreResult<uint32_t> pin_partitions(pg::Connection& connection, uint32_t wanted) {
    return pg::guarded("pinning the ledger's partitions", [&] {
        pg::Transaction transaction(connection);
        connection.queue("INSERT INTO ledger_pin(partitions) VALUES($1) ON CONFLICT DO NOTHING",
                         pg::Params().add(wanted));
        const auto pinned =
            static_cast<uint32_t>(connection.read_integer("SELECT partitions FROM ledger_pin"));
        transaction.commit();
        return pinned;
    });
}

}  // namespace doorbuster
