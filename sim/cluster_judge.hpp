// ClusterJudge: compares what the buyers heard with what is in the stores. Shares no logic with the product.
//
// At every commit:
//   P1  available + held + sold == total, none below zero, and held + sold is what the active orders have
//   P4  no buyer holds more than the limit
//   P5  a purchase has at most one order
//   P6  no two purchases have one take
// At every answer:
//   P5  an id is accepted once; after a yes it hears neither "sold out" nor "limit"
//   P6  its number is always the same
// At rest:
//   P2  Redis has the stock, the ids and nothing else that PostgreSQL has; no record, outbox entry, late
//   record
//       or release row is left
//   P3  every yes has become exactly one order; none was cancelled, since an accepted record finds its unit
//   P6  the takes of the last epoch are dense
#pragma once

#include "sim/cluster_nodes.hpp"

namespace doorbuster::sim::cluster {

class ClusterJudge {
public:
    ClusterJudge(ClusterWorld& world, const Stores& stores, std::vector<BookBucket> items)
        : world_(world), stores_(stores), items_(std::move(items)) {}

    void answered(const BookBucket& item, const ReserveEntry& entry, const Gate::Answer& answer);
    void committed();

    // Whether nothing is left to be done.
    bool is_at_rest();
    void check_at_rest();

    int64_t units_free(const BookBucket& item) const { return row_of(item).units_available; }
    size_t yeses() const { return told_.size(); }

private:
    const PgItem& row_of(const BookBucket& item) const {
        return stores_.postgres.tables.items.at({item.sale.str(), item.item.str()});
    }
    std::optional<BookPeek> peek(const BookBucket& item);
    void said_yes(const PurchaseId& purchase, uint64_t sequence);
    void check_item(const BookBucket& item);
    void check_stock(const PgItem& item, int64_t units_of_orders);

    ClusterWorld& world_;
    const Stores stores_;
    const std::vector<BookBucket> items_;
    std::map<PurchaseId, uint64_t> told_;  // a yes was said, with this number
    std::set<PurchaseId> accepted_;        // and it was news to the book
};

}  // namespace doorbuster::sim::cluster
