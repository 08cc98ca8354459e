// ClusterLookup: where a purchase is that PostgreSQL did not have.
//
// Whoever looks a purchase up has read PostgreSQL. This reads Redis, every book that the lease knows, and
// then PostgreSQL again: a purchase moves only from one to the other, so within an open epoch it is not
// missed. "There is none" is said only if all of them had nothing, every epoch was open, and the lease on
// them held to the end; else it is not known. So is a take that is still in the outbox: nobody was told yes
// for it yet.
//
// Thread safety: none, like every reader.
#pragma once

#include <functional>
#include <memory>

#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/postgres_orders.hpp"
#include "store_cluster/redis_session.hpp"

namespace doorbuster {

class ClusterLookup final : public LedgerReader {
public:
    using CurrentLease = std::function<std::shared_ptr<const EpochLease>()>;
    struct Options {
        RedisAddress redis;
        milliseconds redis_wait_max{500};  // for a connection, and for each book
    };

    // `ledger`: for those who also read records by their position; may be none.
    ClusterLookup(const Options& options, pg::Pool& pool, CurrentLease lease,
                  std::unique_ptr<LedgerReader> ledger = nullptr)
        : options_(options),
          pool_(pool),
          orders_(pool),
          lease_(std::move(lease)),
          ledger_(std::move(ledger)) {}

    // Both from the ledger; not_allowed where there is none.
    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override;
    StoreResult<LedgerCut> end() override;

    // The position says nothing here: it is asked for after PostgreSQL had nothing.
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position, const PurchaseId&) override;

private:
    StoreResult<std::optional<LedgerRecord>> find_in_redis(const EpochLease& lease, const PurchaseId&);
    StoreResult<bool> has_new_books(const EpochLease& lease);
    RedisResult<std::optional<FoundTake>> ask(const ItemEpoch& item, const PurchaseId&);

    const Options options_;
    pg::Pool& pool_;
    PostgresOrdersReader orders_;
    const CurrentLease lease_;
    const std::unique_ptr<LedgerReader> ledger_;
    std::optional<RedisSession> redis_;  // none: it has to be made anew
};

}  // namespace doorbuster
