#include "audit/takes.hpp"

#include <map>
#include <tuple>

namespace doorbuster::audit {

namespace {

using Take = std::tuple<ItemId, uint64_t, uint32_t, uint64_t>;  // epoch, bucket, sequence

Take take_of(const LedgerEntry& entry) {
    return {entry.item, entry.epoch, entry.bucket, entry.acceptance.sequence};
}

class Weighing {
public:
    explicit Weighing(const std::vector<LedgerRecord>& ledger)
        : ledger_(ledger), weights_(ledger.size(), Weight::none) {}

    std::vector<Weight> run() {
        for (size_t i = 0; i < ledger_.size(); ++i) {
            const LedgerRecord& record = ledger_[i];
            if (record.seal) pass(record.position, *record.seal);
            if (record.entry) weights_[i] = weigh(i, *record.entry);
        }
        return std::move(weights_);
    }

private:
    using SealedIn = std::tuple<uint64_t, SaleId, ItemId>;  // partition
    struct Known {
        Take take;
        size_t at;  // in the ledger
    };

    void pass(uint64_t position, const Seal& seal) {
        uint64_t& upto = sealed_[{LedgerPlace::of(position).partition, seal.sale, seal.item}];
        upto = std::max(upto, seal.epoch);
    }
    bool is_sealed(const LedgerRecord& record) const {
        const LedgerEntry& entry = *record.entry;
        const auto found = sealed_.find({LedgerPlace::of(record.position).partition, entry.sale, entry.item});
        return found != sealed_.end() && entry.epoch <= found->second;
    }

    Weight weigh(size_t at, const LedgerEntry& entry) {
        const bool is_late = is_sealed(ledger_[at]);
        const auto [known, is_new] = known_.try_emplace(entry.acceptance.purchase, Known{take_of(entry), at});
        if (is_new) return is_late ? Weight::late : Weight::counts;
        if (is_late) return Weight::again;
        Weight& before = weights_[known->second.at];
        if (before == Weight::late) {
            before = Weight::again;
            known->second = {take_of(entry), at};
            return Weight::counts;
        }
        // Where there is one book nothing is appended twice.
        const bool is_same = entry.epoch != 0 && known->second.take == take_of(entry);
        return is_same ? Weight::again : Weight::taken_twice;
    }

    const std::vector<LedgerRecord>& ledger_;
    std::vector<Weight> weights_;
    std::map<SealedIn, uint64_t> sealed_;
    std::map<PurchaseId, Known> known_;
};

}  // namespace

std::vector<Weight> weigh(const std::vector<LedgerRecord>& ledger) {
    return Weighing(ledger).run();
}

}  // namespace doorbuster::audit
