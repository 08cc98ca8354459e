#include "audit/reconcile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "audit/repairs.hpp"
#include "base/log.hpp"

namespace doorbuster::audit {

namespace {

void repair_one(Finding& finding, const Settling& settling, Instant now) {
    if (auto* place = std::get_if<PlaceRecord>(&finding.repair.mending))
        place->order = settling.next_order(now);
    const auto outcome = settling.store.repair(finding.repair, now);
    if (!outcome) {
        finding.state = FindingState::failed;
        finding.error = outcome.error().text();
        return;
    }
    finding.state = outcome->repaired == Repaired::changed_meanwhile ? FindingState::changed_meanwhile
                                                                     : FindingState::repaired;
    if (outcome->repaired != Repaired::done) return;
    if (outcome->tell) settling.books.control(*outcome->tell);
    log_warn("a difference was repaired", {{"key", finding.repair.key}, {"repair", finding.repair.words}});
}

}  // namespace

StoreResult<Report> count_sale(LedgerReader& ledger, OrdersReader& orders, AuditReader& audit,
                               const SaleId& sale, Trigger trigger, Instant now) {
    const auto known = audit.acknowledged();
    if (!known) return known.error();
    const auto records = read_records(ledger, orders, sale);
    if (!records) return records.error();
    if (records->sales.empty())
        return StoreError{StoreErrc::not_found, "reconciling",
                          fmt::format("there is no sale {}", sale.view())};

    Counted counted = count(*records);
    Report report;
    report.sale = sale;
    report.state = records->sales.front().state;
    report.trigger = trigger;
    report.at = now;
    report.position = records->position;
    report.in_flight = static_cast<uint64_t>(
        std::count_if(records->ledger.begin(), records->ledger.end(),
                      [&](const LedgerRecord& one) { return one.position > records->position; }));
    report.items = std::move(counted.items);
    report.looked = counted.looked;
    // The stock row first: an order's step may need the units that the row forgot.
    std::stable_sort(counted.differences.begin(), counted.differences.end(),
                     [](const Difference& a, const Difference& b) { return a.kind < b.kind; });
    if (counted.differences.empty()) return report;
    const Repairs repairs(*records);
    for (Difference& one : counted.differences) {
        const auto check = static_cast<size_t>(check_of(one.kind));
        const bool is_known = known->contains(one.key());
        ++(is_known ? report.known : report.different)[check];
        if (report.findings.size() == Report::findings_max) {
            ++report.findings_left_out;
            continue;
        }
        Repair repair = repairs.propose(one, now);
        report.findings.push_back({.difference = std::move(one),
                                   .repair = std::move(repair),
                                   .state = is_known ? FindingState::known : FindingState::proposed,
                                   .error = {}});
    }
    return report;
}

StoreResult<void> settle(Report& report, bool repairs, const Settling& settling, Instant now) {
    const auto run = settling.store.begin(report.sale, now);
    if (!run) return run.error();
    report.run = *run;
    for (Finding& finding : report.findings) {
        finding.repair.run = *run;
        // What is mended may break again, and is mended again then; by one run it is mended once.
        if (!finding.repair.acknowledges) finding.repair.key += fmt::format(":run{}", *run);
        if (repairs && finding.state == FindingState::proposed) repair_one(finding, settling, now);
    }
    return settling.store.record(run_of(report), differences_of(report), json_of(report));
}

}  // namespace doorbuster::audit
