#include "audit/audit_desk.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace doorbuster::audit {

namespace {

// While a closed sale still has purchases in flight: soon again, but not all the time.
constexpr std::chrono::seconds soon{5};

bool is_counted(SaleState state) {
    return state == SaleState::open || state == SaleState::paused || state == SaleState::sold_out ||
           state == SaleState::closed;
}

}  // namespace

std::string json_of(const Reconciliation& one) {
    return fmt::format(R"({{"agrees":{},"report":{},"after_repair":{}}})", one.agrees(), json_of(one.report),
                       one.after_repair ? json_of(*one.after_repair) : "null");
}

AuditDesk::AuditDesk(Readers readers, std::chrono::seconds every, Hooks hooks)
    : readers_(std::move(readers)), every_(every), hooks_(std::move(hooks)) {}

StoreResult<Reconciliation> AuditDesk::reconcile(const SaleId& sale, Trigger trigger, const Wish& wish,
                                                 Instant now) {
    const auto count = [&] {
        return count_sale(*readers_.ledger, *readers_.orders, *readers_.history, sale, trigger, now);
    };
    auto counted = count();
    if (!counted) return counted.error();
    Reconciliation done{*std::move(counted), {}};
    if (const auto settled = hooks_.settle(done.report, wish); !settled) return settled.error();
    note(done.report);
    if (!wish.is_any() || done.report.agrees()) return done;

    auto again = count();
    if (!again) return again.error();
    done.after_repair = *std::move(again);
    if (const auto settled = hooks_.settle(*done.after_repair, {}); !settled) return settled.error();
    note(*done.after_repair);
    return done;
}

StoreResult<Replayed> AuditDesk::replay(const SaleId& sale) {
    const auto records = read_records(*readers_.ledger, *readers_.orders, sale);
    if (!records) return records.error();
    if (records->sales.empty())
        return StoreError{StoreErrc::not_found, "replaying", fmt::format("there is no sale {}", sale.view())};
    return audit::replay(*records);
}

void AuditDesk::note(const Report& report) {
    {
        std::lock_guard lock(mutex_);
        figures_[report.sale] = {report.sale, report.differences(), report.at};
    }
    if (report.agrees()) return;
    log_warn("the records do not agree", {{"sale", report.sale.view()},
                                          {"run", report.run},
                                          {"differences", report.differences()},
                                          {"repaired", report.repaired()}});
}

std::vector<AuditDesk::Figures> AuditDesk::figures() const {
    std::lock_guard lock(mutex_);
    std::vector<Figures> all;
    for (const auto& [sale, figures] : figures_) all.push_back(figures);
    return all;
}

bool AuditDesk::is_due(const Seen& seen, bool is_closed, bool is_settled, Uptime uptime) const {
    if (is_closed && !seen.after_close) return true;
    if (is_settled && !seen.settled) return uptime - seen.at >= soon;
    return uptime - seen.at >= every_;
}

StoreResult<void> AuditDesk::tick(Instant now, Uptime uptime) {
    const auto sales = readers_.orders->sales();
    if (!sales) return sales.error();
    struct Due {
        SaleId sale;
        Seen* seen;
        bool is_closed, is_settled;
    };
    std::optional<Due> next;  // whose last run is the longest ago: none waits for ever behind others
    for (const SaleRecord& record : *sales) {
        const SaleId& sale = record.sale.id;
        if (!is_counted(record.state)) {
            seen_.erase(sale);
            std::lock_guard lock(mutex_);
            figures_.erase(sale);
            continue;
        }
        const bool is_closed = record.state == SaleState::closed;
        Seen& seen = seen_.try_emplace(sale, Seen{.at = uptime}).first->second;
        bool is_settled = false;
        // Counting what is not settled reads the sale's orders: not at every tick.
        if (is_closed && (!seen.after_close || uptime - seen.at >= soon)) {
            const auto unsettled = readers_.orders->unsettled(sale);
            if (!unsettled) return unsettled.error();
            is_settled = *unsettled == 0;
        }
        if (is_due(seen, is_closed, is_settled, uptime) && (!next || seen.at < next->seen->at))
            next = Due{sale, &seen, is_closed, is_settled};
    }
    if (!next) return {};

    Seen& seen = *next->seen;
    seen.at = uptime;  // also where it fails: not again at once
    const auto done = reconcile(next->sale, next->is_closed ? Trigger::close : Trigger::timer, {}, now);
    if (!done) return done.error();
    seen.after_close = next->is_closed;
    seen.settled = next->is_settled && done->report.in_flight == 0;
    if (seen.settled && done->agrees()) hooks_.reconciled(next->sale);
    return {};
}

}  // namespace doorbuster::audit
