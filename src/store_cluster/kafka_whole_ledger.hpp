// KafkaWholeLedger: all partitions of the ledger's topic, one behind the other, for those who read
// everything.
//
// A position is a LedgerPlace's number. Through one connection, a partition at a time: whatever was in a
// partition when it was come to is read, so all that was there when reading began.
//
// Thread safety: none.
#pragma once

#include <memory>

#include "store_cluster/kafka_ledger.hpp"

namespace doorbuster {

class KafkaWholeLedger final : public LedgerReader {
public:
    struct Options {
        KafkaReader::Options reader;
        uint64_t partitions = 1;              // as pinned
        milliseconds read_wait_max{10'000};   // of one read: then the brokers are `unavailable`
        size_t scan_records_max = 1'000'000;  // of one find_after; beyond, it is `unavailable`
    };

    [[nodiscard]] static StoreResult<std::unique_ptr<KafkaWholeLedger>> open(const Options&);

    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override;
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position, const PurchaseId&) override;
    StoreResult<LedgerCut> end() override;

private:
    KafkaWholeLedger(const Options& options, std::unique_ptr<KafkaLedger> one)
        : options_(options), one_(std::move(one)) {}

    const Options options_;
    const std::unique_ptr<KafkaLedger> one_;  // of the partition that is being read
};

}  // namespace doorbuster
