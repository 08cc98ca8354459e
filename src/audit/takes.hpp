// Takes: what each record of the ledger counts for.
//
// Where there is one book, every record counts. Where the books are in Redis, several gates append, whoever
// is not sure appends again, and an epoch ends with a SEAL in each partition:
//   - a purchase is one take, however often it stands in the ledger;
//   - what stands behind the SEAL of its epoch took nothing: its unit was counted as available at the cut.
//     Its buyer may have won with the same key under a later epoch, or is told that it is cancelled.
// No rule about who may buy is in here.
#pragma once

#include <cstdint>
#include <vector>

#include "store/ledger.hpp"

namespace doorbuster::audit {

enum class Weight : uint8_t {
    none,         // a seal, or it cannot be read
    counts,       // the take of its purchase
    again,        // its purchase counts elsewhere, and this one rests on nothing
    late,         // behind the SEAL, and its purchase counts nowhere
    taken_twice,  // its purchase has another take that counts as well
};

// One for each record. REQUIRES: the records of a partition are in their order.
std::vector<Weight> weigh(const std::vector<LedgerRecord>& ledger);

}  // namespace doorbuster::audit
