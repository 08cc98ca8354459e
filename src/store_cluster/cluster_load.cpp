#include "store_cluster/cluster_load.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "sale/catalogue.hpp"
#include "sale/terms.hpp"

namespace doorbuster {

BookWord book_word_of(const SaleRecord& record, const ItemId& item) {
    const auto sold = std::ranges::find(record.sale.items, item, &Item::id);
    CHECK(sold != record.sale.items.end());
    return {
        .version = record.version, .phase = phase_in(record.state), .terms = terms_of(record.sale, *sold)};
}

BookLoad book_load_of(const EpochCut& cut, const ItemId& item) {
    BookLoad load{.epoch = cut.epoch, .word = book_word_of(cut.sale, item), .stock = cut.stock, .takes = {}};
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
