#include "store_cluster/purchase_changes.hpp"

#include <algorithm>

namespace doorbuster {

using pg::Params;
using pg::Rows;

StoreResult<std::vector<PurchaseId>> PurchaseChanges::take() {
    return pg::guarded("looking for changed purchases", [&] {
        std::vector<PurchaseId> changed;
        const pg::Pool::Handle connection = pool_.take();
        if (last_ < 0) {
            last_ = connection->read_integer("SELECT coalesce(max(number), 0) FROM events");
            return changed;
        }
        const int64_t from = std::max<int64_t>(0, last_ - static_cast<int64_t>(overlap));
        const Rows rows = connection->run(
            "SELECT e.number, coalesce(e.purchase, o.purchase) FROM events e "
            "LEFT JOIN orders o ON o.id = e.order_id WHERE e.number > $1 ORDER BY e.number LIMIT $2",
            Params().add(from).add(static_cast<int64_t>(events_max)));
        for (size_t i = 0; i < rows.size(); ++i) {
            const int64_t number = rows[i].integer(0);
            last_ = std::max(last_, number);
            if (!seen_.insert(number).second) continue;
            if (const auto purchase = rows[i].purchase_or_none(1)) changed.push_back(*purchase);
        }
        seen_.erase(seen_.begin(), seen_.upper_bound(last_ - static_cast<int64_t>(overlap)));
        return changed;
    });
}

}  // namespace doorbuster
