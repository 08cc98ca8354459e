// ClusterBucket: an item bucket, what this gate's newest lease says of it, and what its looks had seen.
//
// Whoever acts on the bucket asks here first, and once more before it tells anybody what came of it.
//
// Thread safety: none; the books' thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "store_cluster/cluster_looks.hpp"
#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/redis_codec.hpp"

namespace doorbuster {

// Why the book of an open epoch may have to be rebuilt. Gates tell; a coordinator acts.
enum class Doubt : uint8_t {
    silent,  // no answer: it may come back as it was
    lost,    // it answers, and is not the book that was pinned
};

class ClusterBucket {
public:
    using Doubted = std::function<void(const ItemEpoch&, Doubt, const std::string& why)>;

    ClusterBucket(const BookBucket& bucket, Doubted doubted) : id_(bucket), doubted_(std::move(doubted)) {}

    const BookBucket& id() const { return id_; }

    // `epoch` is none where the lease does not know the item.
    void take(std::optional<ItemEpoch> epoch, pg::BootTime ends_at) {
        fence_ = epoch && epoch->pin ? std::optional(Fence{*epoch->pin, epoch->epoch}) : std::nullopt;
        ends_at_ = ends_at;
    }

    bool lease_holds() const { return pg::boot_time() < ends_at_; }
    pg::BootTime lease_ends_at() const { return ends_at_; }
    // The epoch is open, and the lease on it is not over.
    bool holds() const { return fence_ && lease_holds(); }
    bool holds(uint64_t epoch) const { return holds() && fence_->epoch == epoch; }

    // None without a lease: then nothing is sent.
    std::optional<Fence> fence() const { return holds() ? fence_ : std::nullopt; }

    void saw(const BookPeek::There& book) { looks_.saw(book, pg::boot_time()); }
    bool is_news(const ReserveVerdict& taken) const { return looks_.is_news(taken, pg::boot_time()); }

    // `under`: the fence of the call that met it. A call of an earlier lease says nothing about the book of
    // the one that holds now.
    void doubt(const Fence& under, Doubt doubt, const std::string& why) {
        constexpr std::chrono::seconds told_every{1};
        if (!holds() || under != *fence_) return;
        const pg::BootTime now = pg::boot_time();
        pg::BootTime& told_at = doubt == Doubt::silent ? silence_told_at_ : loss_told_at_;
        if (now < told_at + told_every) return;
        told_at = now;
        if (doubted_) doubted_({id_.sale, id_.item, fence_->epoch, fence_->pin}, doubt, why);
    }

private:
    const BookBucket id_;
    const Doubted doubted_;
    std::optional<Fence> fence_;
    pg::BootTime ends_at_{};
    ClusterLooks looks_;
    pg::BootTime silence_told_at_{std::chrono::hours(-1)}, loss_told_at_{std::chrono::hours(-1)};
};

}  // namespace doorbuster
