#include "store_cluster/postgres_rebuilds.hpp"

namespace doorbuster {

StoreResult<std::vector<BookEpoch>> PostgresRebuilds::ask(const SaleId& sale, std::span<const ItemId> items,
                                                          const std::string& reason) {
    std::vector<BookEpoch> asked;
    for (const ItemId& item : items) {
        const auto epoch = epochs_.ask_for_rebuild(sale, item, reason);
        if (!epoch) return epoch.error();
        asked.push_back({item, epoch->epoch, epoch->pin.has_value()});
    }
    return asked;
}

StoreResult<std::vector<BookEpoch>> PostgresRebuilds::epochs(const SaleId& sale) {
    const auto items = epochs_.items_of(sale);
    if (!items) return items.error();
    std::vector<BookEpoch> books;
    for (const ItemEpoch& one : *items) books.push_back({one.item, one.epoch, one.pin.has_value()});
    return books;
}

}  // namespace doorbuster
