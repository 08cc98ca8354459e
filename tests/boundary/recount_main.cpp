// doorbuster-recount DATA_FOLDER: recounts a stopped server's records.
// Prints the differences, one per line. Exit 0: none; 1: some; 2: could not be read.
#include <fmt/format.h>

#include "audit/records.hpp"
#include "audit/recount.hpp"
#include "store_sqlite/data_folder.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"

namespace {

using namespace doorbuster;

StoreResult<audit::Records> records_in(const std::string& path) {
    const auto folder = DataFolder::hold(path);  // nobody writes meanwhile
    if (!folder) return folder.error();
    const auto ledger = SqliteLedgerReader::open(folder->ledger_path());
    if (!ledger) return ledger.error();
    const auto orders = SqliteOrdersReader::open(folder->orders_path());
    if (!orders) return orders.error();
    return audit::read_records(**ledger, **orders);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: doorbuster-recount DATA_FOLDER\n");
        return 2;
    }
    const auto records = records_in(argv[1]);
    if (!records) {
        fmt::print(stderr, "doorbuster-recount: {}\n", records.error().text());
        return 2;
    }
    const auto differences = audit::recount(*records);
    for (const auto& difference : differences) {
        fmt::print("{} {}: {}\n", audit::name_of(difference.kind), difference.where, difference.detail);
    }
    return differences.empty() ? 0 : 1;
}
