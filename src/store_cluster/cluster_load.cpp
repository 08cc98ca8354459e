#include "store_cluster/cluster_load.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "sale/catalogue.hpp"
#include "sale/terms.hpp"

namespace doorbuster {

BookLoad book_load_of(const EpochCut& cut, const ItemId& item) {
    const Sale& sale = cut.sale.sale;
    const auto sold = std::ranges::find(sale.items, item, &Item::id);
    CHECK(sold != sale.items.end());
    BookLoad load{.epoch = cut.epoch,
                  .word = {.version = cut.sale.version,
                           .phase = phase_in(cut.sale.state),
                           .terms = terms_of(sale, *sold)},
                  .stock = cut.stock,
                  .takes = {}};
    load.takes.reserve(cut.purchases.size());
    for (const auto& [one, epoch] : cut.purchases) {
        const Acceptance& acceptance = one.acceptance;
        load.takes.push_back({.purchase = acceptance.purchase,
                              .buyer = acceptance.buyer,
                              .take = {.state = one.hold,
                                       .units = acceptance.units,
                                       .epoch = epoch,
                                       .sequence = acceptance.sequence,
                                       .accepted_at = acceptance.accepted_at}});
    }
    return load;
}

}  // namespace doorbuster
