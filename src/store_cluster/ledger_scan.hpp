// LedgerScan: one purchase looked for in the records behind a position, batch by batch.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "store/ledger.hpp"
#include "store_cluster/kafka_handle.hpp"

namespace doorbuster {

struct LedgerScan {
    static constexpr size_t batch = 4096;

    uint64_t behind = 0;
    const PurchaseId& purchase;
    size_t records_max = 0;  // beyond, it is `unavailable`: "not there" would be a guess

    // `read(position, count_max)` answers as LedgerReader::read_after does.
    template <class Read>
    StoreResult<std::optional<LedgerRecord>> run(std::string_view operation, Read&& read) const {
        uint64_t position = behind;
        for (size_t left = records_max; left > 0;) {
            auto records = read(position, std::min(left, batch));
            if (!records) return records.error();
            if (records->empty()) return std::optional<LedgerRecord>();
            for (LedgerRecord& record : *records) {
                if (record.entry && record.entry->acceptance.purchase == purchase) {
                    return std::optional(std::move(record));
                }
            }
            position = records->back().position;
            left -= records->size();
        }
        return kafka_error(StoreErrc::unavailable, operation,
                           fmt::format("more than {} records are behind it", records_max));
    }
};

}  // namespace doorbuster
