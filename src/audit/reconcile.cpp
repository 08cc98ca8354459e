#include "audit/reconcile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "audit/repairs.hpp"
#include "base/log.hpp"

namespace doorbuster::audit {

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
    report.position = records->position.records();
    report.in_flight = counted.in_flight;
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

void Settlement::prepare() {
    if (!is_settled() || !json_.empty()) return;
    differences_ = differences_of(report_);
    json_ = json_of(report_);
}

StoreResult<void> Settlement::step(Instant now) {
    if (report_.run == 0) return begin(now);
    if (!is_settled()) {
        const size_t end = std::min(next_ + findings_per_step, report_.findings.size());
        for (; next_ < end; ++next_) settle_one(report_.findings[next_], now);
        return {};
    }
    prepare();
    const auto recorded = settling_.store.record(run_of(report_), differences_, json_);
    if (recorded) is_recorded_ = true;
    return recorded;
}

StoreResult<void> Settlement::begin(Instant now) {
    if (const auto checked = check_wish(); !checked) return checked;
    const auto run = settling_.store.begin(report_.sale, now);
    if (!run) return run.error();
    report_.run = *run;
    // Where nothing is to be done there is nothing to do in pieces.
    if (!wish_.is_any()) next_ = report_.findings.size();
    return {};
}

StoreResult<void> Settlement::check_wish() const {
    std::set<std::string> found;
    for (const Finding& one : report_.findings) {
        std::string key = one.difference.key();
        if (wish_.acknowledge.contains(key) && !may_be_acknowledged(one.difference.kind)) {
            return StoreError{StoreErrc::not_allowed, "acknowledging",
                              fmt::format("{} cannot be acknowledged: {}", key, one.repair.words)};
        }
        found.insert(std::move(key));
    }
    for (const std::string& key : wish_.acknowledge) {
        if (!found.contains(key)) {
            return StoreError{StoreErrc::not_allowed, "acknowledging",
                              fmt::format("there is no difference {} now", key)};
        }
    }
    return {};
}

void Settlement::settle_one(Finding& finding, Instant now) const {
    if (finding.state != FindingState::proposed) return;
    Repair& repair = finding.repair;
    repair.run = report_.run;
    const bool is_word = wish_.acknowledge.contains(finding.difference.key());
    if (is_word) {
        repair.mending = Acknowledge{};
        repair.acknowledges = true;
        repair.words = "acknowledged by the operator";
    } else if (wish_.repair && !std::holds_alternative<Acknowledge>(repair.mending)) {
        // What is mended may break again, and is mended again then; by one run it is mended once.
        repair.key += fmt::format(":run{}", report_.run);
    } else {
        return;
    }
    if (auto* place = std::get_if<PlaceRecord>(&repair.mending)) place->order = settling_.next_order(now);
    const auto outcome = settling_.store.repair(repair, now);
    if (!outcome) {
        finding.state = FindingState::failed;
        finding.error = outcome.error().text();
        return;
    }
    finding.state = outcome->repaired == Repaired::changed_meanwhile ? FindingState::changed_meanwhile
                    : is_word                                        ? FindingState::acknowledged
                                                                     : FindingState::repaired;
    if (outcome->repaired != Repaired::done) return;
    if (outcome->tell) settling_.books.control(*outcome->tell);
    if (settling_.repaired) settling_.repaired(*outcome);
    log_warn(is_word ? "a difference was acknowledged" : "a difference was repaired",
             {{"key", repair.key}, {"repair", repair.words}});
}

StoreResult<void> settle(Report& report, const Wish& wish, const Settling& settling, Instant now) {
    Settlement settlement(report, wish, settling);
    while (!settlement.is_done()) {
        if (const auto stepped = settlement.step(now); !stepped) return stepped;
    }
    return {};
}

}  // namespace doorbuster::audit
