// Ledger: the durable, ordered record of what the book accepted.
//
// A purchase is answered 202 only after append has returned. Positions begin at 1
// and rise; records are never changed or removed while their sale is not reconciled.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
};

// Thread safety: an instance belongs to one thread.
class Ledger {
public:
    virtual ~Ledger() = default;

    // All or nothing, durable when it returns. After an error nothing may be appended
    // any more: memory and disk may no longer agree.
    [[nodiscard]] virtual StoreResult<void> append(std::span<const LedgerEntry>) = 0;

    // Called when nothing waits: a good moment for upkeep such as a checkpoint.
    [[nodiscard]] virtual StoreResult<void> idle() = 0;
};

}  // namespace doorbuster
