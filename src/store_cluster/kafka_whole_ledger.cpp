#include "store_cluster/kafka_whole_ledger.hpp"

#include "store_cluster/ledger_scan.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view reading_all = "read all of the Kafka ledger";

}  // namespace

StoreResult<std::unique_ptr<KafkaWholeLedger>> KafkaWholeLedger::open(const Options& options) {
    CHECK(options.partitions >= 1 && options.partitions <= LedgerPlace::partitions_max);
    auto one = KafkaLedger::open({.reader = options.reader, .read_wait_max = options.read_wait_max});
    if (!one) return one.error();
    return std::unique_ptr<KafkaWholeLedger>(new KafkaWholeLedger(options, std::move(*one)));
}

StoreResult<std::vector<LedgerRecord>> KafkaWholeLedger::read_after(uint64_t position, size_t count_max) {
    std::vector<LedgerRecord> records;
    for (LedgerPlace at = LedgerPlace::of(position);
         at.partition < options_.partitions && records.size() < count_max;) {
        one_->turn_to(static_cast<int32_t>(at.partition));
        auto some = one_->read_after(at.position, count_max - records.size());
        if (!some && records.empty()) return some.error();
        if (!some) return records;  // the error comes again with the next call, which begins there
        if (some->empty()) {
            at = {.partition = at.partition + 1};
            continue;
        }
        at.position = some->back().position;
        for (LedgerRecord& one : *some) {
            one.position = LedgerPlace{at.partition, one.position}.number();
            records.push_back(std::move(one));
        }
    }
    return records;
}

StoreResult<std::optional<LedgerRecord>> KafkaWholeLedger::find_after(uint64_t position,
                                                                      const PurchaseId& purchase) {
    const LedgerScan scan{position, purchase, options_.scan_records_max};
    return scan.run(reading_all, [this](uint64_t at, size_t count_max) { return read_after(at, count_max); });
}

StoreResult<LedgerCut> KafkaWholeLedger::end() {
    std::vector<uint64_t> ends;
    for (uint64_t partition = 0; partition < options_.partitions; ++partition) {
        one_->turn_to(static_cast<int32_t>(partition));
        const auto end = one_->end();
        if (!end) return end.error();
        ends.push_back(end->records());
    }
    return LedgerCut(std::move(ends));
}

}  // namespace doorbuster
