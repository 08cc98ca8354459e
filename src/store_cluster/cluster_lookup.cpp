#include "store_cluster/cluster_lookup.hpp"

namespace doorbuster {

namespace {

StoreError not_known(std::string why) {
    return {StoreErrc::unavailable, "looking a purchase up", std::move(why), true};
}

StoreError no_ledger() {
    return {StoreErrc::not_allowed, "reading the ledger", "its workers read it"};
}

}  // namespace

StoreResult<std::vector<LedgerRecord>> ClusterLookup::read_after(uint64_t position, size_t count_max) {
    if (!ledger_) return no_ledger();
    return ledger_->read_after(position, count_max);
}

StoreResult<LedgerCut> ClusterLookup::end() {
    if (!ledger_) return no_ledger();
    return ledger_->end();
}

StoreResult<std::optional<LedgerRecord>> ClusterLookup::find_after(uint64_t, const PurchaseId& purchase) {
    const auto lease = lease_();
    if (!lease || !lease->holds()) return not_known("there is no lease on the epochs");
    const auto taken = find_in_redis(*lease, purchase);
    if (taken && *taken) return taken;

    const auto placed = orders_.find_purchase(purchase);
    if (!placed) return placed.error();
    if (*placed) {
        const PurchaseRecord& record = **placed;
        return std::optional(LedgerRecord{.entry = LedgerEntry{record.sale, record.item, record.acceptance}});
    }
    if (!taken) return taken.error();
    const auto is_old = has_new_books(*lease);
    if (!is_old) return is_old.error();
    if (*is_old) return not_known("there is a book that the lease does not know of yet");
    // Then no epoch was left behind meanwhile.
    if (!lease->holds()) return not_known("the lease on the epochs is over");
    return std::optional<LedgerRecord>();
}

StoreResult<bool> ClusterLookup::has_new_books(const EpochLease& lease) {
    return pg::guarded("looking for new books", [&] {
        const pg::Pool::Handle connection = pool_.take();
        return PostgresEpochs::has_new_books(*connection, lease);
    });
}

// An error where one of the books could not be asked, and none of the others has it.
StoreResult<std::optional<LedgerRecord>> ClusterLookup::find_in_redis(const EpochLease& lease,
                                                                      const PurchaseId& purchase) {
    std::optional<StoreError> doubt;
    for (const ItemEpoch& item : lease.items()) {
        if (item.is_at_rest) continue;
        if (!item.pin) {
            doubt = not_known("a book is being rebuilt");
            continue;
        }
        const auto found = ask(item, purchase);
        if (!found) {
            doubt = not_known(found.error().detail);
            if (!redis_) break;  // it does not answer: the next book is not asked for
            continue;
        }
        if (!*found) continue;
        if ((*found)->is_pending) return not_known("it is on its way to the ledger");
        const Take& take = (*found)->take;
        return std::optional(
            LedgerRecord{.entry = LedgerEntry{.sale = item.sale,
                                              .item = item.item,
                                              .acceptance = {.purchase = purchase,
                                                             .buyer = (*found)->buyer,
                                                             .units = take.units,
                                                             .sequence = take.sequence,
                                                             .accepted_at = take.accepted_at},
                                              .epoch = take.epoch}});
    }
    if (doubt) return *doubt;
    return std::optional<LedgerRecord>();
}

RedisResult<std::optional<FoundTake>> ClusterLookup::ask(const ItemEpoch& item, const PurchaseId& purchase) {
    if (!redis_) {
        auto opened = RedisSession::open(options_.redis, options_.redis_wait_max);
        if (!opened) return opened.error();
        redis_.emplace(std::move(*opened));
    }
    const std::vector one{purchase};
    const auto reply = redis_->run(find_call({item.sale, item.item}, {*item.pin, item.epoch}, one));
    if (!reply) {
        redis_.reset();
        return reply.error();
    }
    const auto found = read_find(**reply, 1);
    if (!found) return found.error();
    return found->front();
}

}  // namespace doorbuster
