// A ledger in memory, on a disk that can fail. Passes the ledger's contract.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "sim/disk.hpp"
#include "store/ledger.hpp"

namespace doorbuster::sim {

using LastNumbers = std::map<std::pair<SaleId, ItemId>, uint64_t>;

struct LedgerState {  // what outlives the process
    std::vector<LedgerRecord> records;
    std::map<PurchaseId, size_t> by_purchase;  // index into records, of the first
    LastNumbers last_numbers;
    uint64_t purchases_twice = 0;  // no store refuses that: the judge does
};

class MemoryLedger final : public Ledger {
public:
    MemoryLedger(LedgerState& state, Disk& disk) : state_(state), disk_(disk) {}

    StoreResult<void> append(std::span<const LedgerEntry> entries) override {
        CHECK(!failed_);  // the product's promise: nothing is appended after a failure
        LastNumbers last_numbers = state_.last_numbers;
        for (const LedgerEntry& entry : entries) {
            uint64_t& last = last_numbers[{entry.sale, entry.item}];
            if (entry.acceptance.sequence <= last) {
                failed_ = true;
                return StoreError{StoreErrc::not_allowed, "appending to the ledger",
                                  "a sequence number twice"};
            }
            last = entry.acceptance.sequence;
        }
        const auto written = disk_.write("appending to the ledger", [&] {
            state_.last_numbers = last_numbers;
            for (const LedgerEntry& entry : entries) {
                const bool is_first =
                    state_.by_purchase.emplace(entry.acceptance.purchase, state_.records.size()).second;
                state_.purchases_twice += is_first ? 0 : 1;
                state_.records.push_back({state_.records.size() + 1, entry, {}});
            }
        });
        failed_ = written.has_error();
        return written;
    }
    StoreResult<void> idle() override { return {}; }

private:
    LedgerState& state_;
    Disk& disk_;
    bool failed_ = false;
};

class MemoryLedgerReader final : public LedgerReader {
public:
    MemoryLedgerReader(const LedgerState& state, Disk& disk) : state_(state), disk_(disk) {}

    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override {
        std::vector<LedgerRecord> some;
        for (size_t at = position; at < state_.records.size() && some.size() < count_max; ++at) {
            some.push_back(state_.records[at]);
        }
        return read(some);
    }
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position, const PurchaseId& id) override {
        const auto found = state_.by_purchase.find(id);
        if (found == state_.by_purchase.end() || found->second < position)
            return read(std::optional<LedgerRecord>());
        return read(std::optional(state_.records[found->second]));
    }
    StoreResult<LedgerCut> end() override { return read(LedgerCut(state_.records.size())); }

private:
    template <class Value>
    StoreResult<Value> read(Value value) {
        const auto read = disk_.read(Fault::failed_ledger_read, "reading the ledger");
        if (!read) return read.error();
        return value;
    }

    const LedgerState& state_;
    Disk& disk_;
};

}  // namespace doorbuster::sim
