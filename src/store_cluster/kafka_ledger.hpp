// KafkaLedger: one partition of the ledger's topic, behind the port that the order worker reads.
//
// The port's position counts what has been handled, so it is the Kafka offset of the next record: the record
// at offset 0 has position 1. A record that is nobody's comes with its bytes, for the dead letter. One of a
// later version of this program is `newer_schema`, and nothing behind it is handed out: somebody was
// promised something that this program cannot read.
//
// Thread safety: none.
#pragma once

#include <memory>

#include "store_cluster/kafka_reader.hpp"

namespace doorbuster {

class KafkaLedger final : public LedgerReader {
public:
    struct Options {
        KafkaReader::Options reader;
        int32_t partition = 0;
        // read_after waits so long for as many as were asked for, or for the end. Zero: it does not wait,
        // and an empty answer says only that nothing is at hand. find_after always waits.
        milliseconds read_wait_max{0};
        milliseconds scan_wait_max{10'000};
        size_t scan_records_max = 1'000'000;  // of one find_after; beyond, it is `unavailable`
    };

    [[nodiscard]] static StoreResult<std::unique_ptr<KafkaLedger>> open(const Options&);

    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override;
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position, const PurchaseId&) override;
    StoreResult<LedgerCut> end() override;

    // Reads this one from now on.
    void turn_to(int32_t partition);

private:
    KafkaLedger(const Options& options, KafkaReader reader) : options_(options), reader_(std::move(reader)) {}

    StoreResult<std::vector<LedgerRecord>> read(uint64_t position, size_t count_max, milliseconds wait_max);
    StoreResult<void> go_to(uint64_t position);
    std::optional<StoreError> take_in(std::vector<KafkaReadRecord> read, std::vector<LedgerRecord>& records);

    Options options_;
    KafkaReader reader_;
    std::optional<uint64_t> reads_behind_;  // where the reader is; none: nowhere that can be gone on from
};

}  // namespace doorbuster
