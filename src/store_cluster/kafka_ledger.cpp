#include "store_cluster/kafka_ledger.hpp"

#include <fmt/format.h>

#include "store_cluster/ledger_scan.hpp"

namespace doorbuster {

namespace {

using std::chrono::steady_clock;

constexpr std::string_view reading_ledger = "read the Kafka ledger";
constexpr milliseconds slice{20};  // the library waits until a batch is full: so long at a time

LedgerRecord record_of(KafkaReadRecord&& read) {
    LedgerRecord record{.position = static_cast<uint64_t>(read.offset) + 1, .entry = {}};
    if (auto* entry = std::get_if<LedgerEntry>(&read.record)) record.entry = std::move(*entry);
    if (auto* seal = std::get_if<Seal>(&read.record)) record.seal = std::move(*seal);
    if (auto* bytes = std::get_if<UnreadableRecord>(&read.record)) record.raw = std::move(bytes->raw);
    return record;
}

bool is_newer(const KafkaReadRecord& read) {
    const auto* unreadable = std::get_if<UnreadableRecord>(&read.record);
    return unreadable != nullptr && unreadable->why == UnreadableWhy::newer;
}

}  // namespace

StoreResult<std::unique_ptr<KafkaLedger>> KafkaLedger::open(const Options& options) {
    auto reader = KafkaReader::open(options.reader);
    if (!reader) return reader.error();
    return std::unique_ptr<KafkaLedger>(new KafkaLedger(options, std::move(*reader)));
}

StoreResult<std::vector<LedgerRecord>> KafkaLedger::read_after(uint64_t position, size_t count_max) {
    return read(position, count_max, options_.read_wait_max);
}

StoreResult<std::optional<LedgerRecord>> KafkaLedger::find_after(uint64_t position,
                                                                 const PurchaseId& purchase) {
    const LedgerScan scan{position, purchase, options_.scan_records_max};
    return scan.run(reading_ledger, [this](uint64_t at, size_t count_max) {
        return read(at, count_max, options_.scan_wait_max);
    });
}

StoreResult<LedgerCut> KafkaLedger::end() {
    const auto end = reader_.end_of(options_.partition);
    if (!end) return end.error();
    return LedgerCut(static_cast<uint64_t>(*end));
}

void KafkaLedger::turn_to(int32_t partition) {
    if (options_.partition == partition) return;
    options_.partition = partition;
    reads_behind_.reset();
}

StoreResult<void> KafkaLedger::go_to(uint64_t position) {
    if (reads_behind_ == position) return {};
    reads_behind_.reset();
    const KafkaPosition from{options_.partition, static_cast<int64_t>(position)};
    if (auto assigned = reader_.assign({&from, 1}); !assigned) return assigned.error();
    reads_behind_ = position;
    return {};
}

StoreResult<std::vector<LedgerRecord>> KafkaLedger::read(uint64_t position, size_t count_max,
                                                         milliseconds wait_max) {
    if (auto there = go_to(position); !there) return there.error();
    const auto deadline = steady_clock::now() + wait_max;
    std::vector<LedgerRecord> records;
    std::optional<StoreError> stopped_by;
    bool is_end = wait_max == milliseconds::zero();
    do {
        auto batch = reader_.read(count_max - records.size(), std::min(wait_max, slice));
        stopped_by = batch ? take_in(std::move(batch->records), records) : batch.error();
        is_end = is_end || stopped_by || !batch->at_end.empty() || records.size() == count_max;
        if (is_end) break;
        if (steady_clock::now() >= deadline) {
            stopped_by = kafka_error(StoreErrc::unavailable, reading_ledger, "the brokers are too slow");
        }
    } while (!stopped_by);
    // What stopped it comes again with the next call, which begins there.
    if (stopped_by) reads_behind_.reset();
    if (stopped_by && records.empty()) return *stopped_by;
    return records;
}

// Up to what stops it.
std::optional<StoreError> KafkaLedger::take_in(std::vector<KafkaReadRecord> read,
                                               std::vector<LedgerRecord>& records) {
    for (KafkaReadRecord& one : read) {
        if (is_newer(one)) {
            return kafka_error(
                StoreErrc::newer_schema, reading_ledger,
                fmt::format("partition {} has a record of a later version at {}: run that version",
                            options_.partition, one.offset));
        }
        records.push_back(record_of(std::move(one)));
        reads_behind_ = records.back().position;
    }
    return std::nullopt;
}

}  // namespace doorbuster
