// Ledger: the durable, ordered record of what the book accepted.
//
// A purchase is answered 202 only after append has returned. Positions begin at 1
// and rise; records are never changed or removed while their sale is not reconciled.
//
// A ledger may have several partitions, each with its own worker. Whoever reads one of them reads its own
// positions; whoever reads all of them reads one partition behind the other, and a position then names the
// partition, too (LedgerPlace).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "sale/book.hpp"
#include "store/errors.hpp"

namespace doorbuster {

struct LedgerEntry {
    SaleId sale;
    ItemId item;
    Acceptance acceptance;
    // The finished purchase that this acceptance continues: its payment came late, or it was a
    // dead letter that is tried again.
    std::optional<PurchaseId> replaces{};
    // Where the books are in Redis: with item and sequence, the take. Zero where there is one book.
    uint64_t epoch = 0;
    uint32_t bucket = 0;
};

// Closes every epoch of the item up to this one, in the partition of the ledger that it stands in: what
// comes behind it under one of them comes too late.
struct Seal {
    SaleId sale;
    ItemId item;
    uint64_t epoch = 0;
};

struct LedgerRecord {
    uint64_t position = 0;
    std::optional<LedgerEntry> entry;  // none: it is a seal, or cannot be read
    std::string raw{};                 // of one that cannot: what is there, for the dead letter
    std::optional<Seal> seal{};
};

// Where a record stands in a ledger of several partitions. Its number rises from one partition to the next,
// is the plain position in the first, and is exact in JSON.
struct LedgerPlace {
    static constexpr uint64_t positions_max = uint64_t{1} << 40;  // of one partition
    static constexpr uint64_t partitions_max = uint64_t{1} << 13;

    uint64_t partition = 0, position = 0;

    static LedgerPlace of(uint64_t number) { return {number / positions_max, number % positions_max}; }
    uint64_t number() const {
        CHECK(partition < partitions_max && position < positions_max);
        return partition * positions_max + position;
    }
};

// How far somebody has come in every partition of the ledger.
class LedgerCut {
public:
    LedgerCut(uint64_t position = 0) : positions_{position} {}  // where there is one partition
    explicit LedgerCut(std::vector<uint64_t> positions) : positions_(std::move(positions)) {}

    bool covers(uint64_t number) const {
        const LedgerPlace place = LedgerPlace::of(number);
        return place.position <= of(place.partition);
    }
    uint64_t of(uint64_t partition) const {
        return partition < positions_.size() ? positions_[partition] : 0;
    }
    // In all of them.
    uint64_t records() const {
        uint64_t sum = 0;
        for (const uint64_t one : positions_) sum += one;
        return sum;
    }
    // How many there are up to `end` that it does not cover.
    uint64_t left_to(const LedgerCut& end) const {
        uint64_t sum = 0;
        for (size_t i = 0; i < end.positions_.size(); ++i)
            sum += end.positions_[i] - std::min(end.positions_[i], of(i));
        return sum;
    }
    size_t partitions() const { return positions_.size(); }

    friend bool operator==(const LedgerCut&, const LedgerCut&) = default;

private:
    std::vector<uint64_t> positions_;  // by partition
};

// Thread safety: an instance belongs to one thread.
class LedgerReader {
public:
    virtual ~LedgerReader() = default;

    // Records behind `position`, in order, at most `count_max`.
    [[nodiscard]] virtual StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position,
                                                                            size_t count_max) = 0;
    // The purchase's record among those behind `position`: for what is not placed yet. Cheap only where
    // `position` is the worker's, or not far from it.
    [[nodiscard]] virtual StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position,
                                                                              const PurchaseId&) = 0;
    // How far it goes now.
    [[nodiscard]] virtual StoreResult<LedgerCut> end() = 0;
};

// Thread safety: an instance belongs to one thread.
class Ledger {
public:
    virtual ~Ledger() = default;

    // All or nothing, durable when it returns. An item's sequence numbers rise; one that does not is refused.
    // After an error nothing may be appended any more: memory and disk may no longer agree.
    [[nodiscard]] virtual StoreResult<void> append(std::span<const LedgerEntry>) = 0;

    // Called when nothing waits: a good moment for upkeep such as a checkpoint.
    [[nodiscard]] virtual StoreResult<void> idle() = 0;
};

}  // namespace doorbuster
