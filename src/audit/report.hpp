// Report: what one reconciliation found, what it proposes, and what came of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/recount.hpp"
#include "store/audit_store.hpp"

namespace doorbuster::audit {

enum class FindingState : uint8_t {  // persisted by name
    proposed,
    known,              // acknowledged before; no difference any more
    repaired,           // by a delta, in this run
    changed_meanwhile,  // the records moved on: the next run sees
    failed,             // the store could not do it
    acknowledged,       // by the operator's word, in this run
};
std::string_view name_of(FindingState);

struct Finding {
    Difference difference;
    Repair repair;
    FindingState state = FindingState::proposed;
    std::string error;  // of failed
};

enum class Trigger : uint8_t { word, timer, close };  // the operator's word; persisted by name
std::string_view name_of(Trigger);

struct Report {
    // Every difference is counted; so many are kept with their ids.
    static constexpr size_t findings_max = 10'000;

    SaleId sale;
    SaleState state{};  // the sale's
    Trigger trigger{};
    uint64_t run = 0;
    Instant at{};
    uint64_t position = 0;   // the worker's; of several, how many records all of them have passed
    uint64_t in_flight = 0;  // acceptances
    std::vector<ItemSums> items;
    std::array<uint64_t, checks> looked{}, different{}, known{};
    std::vector<Finding> findings;
    uint64_t findings_left_out = 0;

    uint64_t differences() const;
    uint64_t known_before() const;
    uint64_t repaired() const;
    bool agrees() const { return differences() == 0; }
};

// JSON, RFC 3339 times, ids as text.
std::string json_of(const Report&);
ReconcileRun run_of(const Report&);
std::vector<RunDifference> differences_of(const Report&);

}  // namespace doorbuster::audit
