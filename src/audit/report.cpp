#include "audit/report.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <numeric>

#include "base/rfc3339.hpp"

namespace doorbuster::audit {

namespace json = boost::json;

namespace {

template <class Id>
json::value text_or_null(const std::optional<Id>& id) {
    if (!id) return nullptr;
    return json::string(std::to_string(static_cast<int64_t>(*id)));
}
template <class Tag, size_t Bytes>
json::value text_or_null(const std::optional<TextId<Tag, Bytes>>& id) {
    if (!id) return nullptr;
    return json::string(id->view());
}
json::value text_or_null(const std::optional<PurchaseId>& id) {
    if (!id) return nullptr;
    return json::string(id->hex());
}
json::value number_or_null(const std::optional<uint64_t>& number) {
    return number ? json::value(*number) : json::value(nullptr);
}

json::object json_of(const ItemSums& item) {
    return {{"id", item.item.view()},
            {"units_total", item.stock.units_total},
            {"units_available", item.stock.units_available},
            {"units_held", item.stock.units_held},
            {"units_sold", item.stock.units_sold},
            {"orders_held", item.held},
            {"orders_sold", item.sold},
            {"orders_open", item.open},
            {"in_flight", item.in_flight}};
}

json::object json_of(const Finding& finding) {
    const Difference& one = finding.difference;
    return {{"kind", name_of(one.kind)},
            {"key", one.key()},
            {"where", one.where},
            {"item", text_or_null(one.item)},
            {"buyer", text_or_null(one.buyer)},
            {"purchase", text_or_null(one.purchase)},
            {"order", text_or_null(one.order)},
            {"payment", text_or_null(one.payment)},
            {"position", number_or_null(one.position)},
            {"sequence", number_or_null(one.sequence)},
            {"detail", one.detail},
            {"repair", finding.repair.words},
            {"outcome", name_of(finding.state)},
            {"error", finding.error}};
}

uint64_t sum(const std::array<uint64_t, checks>& counts) {
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

}  // namespace

std::string_view name_of(FindingState state) {
    static constexpr std::array<std::string_view, 6> names = {"proposed",          "known",  "repaired",
                                                              "changed_meanwhile", "failed", "acknowledged"};
    return names[static_cast<size_t>(state)];
}

std::string_view name_of(Trigger trigger) {
    static constexpr std::array<std::string_view, 3> names = {"operator", "timer", "close"};
    return names[static_cast<size_t>(trigger)];
}

uint64_t Report::differences() const {
    return sum(different);
}
uint64_t Report::known_before() const {
    return sum(known);
}
uint64_t Report::repaired() const {
    return static_cast<uint64_t>(std::count_if(findings.begin(), findings.end(), [](const Finding& one) {
        return one.state == FindingState::repaired;
    }));
}

std::string json_of(const Report& report) {
    json::array items, compared, differences;
    for (const ItemSums& item : report.items) items.push_back(json_of(item));
    for (size_t i = 0; i < checks; ++i) {
        compared.push_back(json::object{{"check", name_of(static_cast<Check>(i))},
                                        {"records", report.looked[i]},
                                        {"differences", report.different[i]},
                                        {"known", report.known[i]}});
    }
    for (const Finding& finding : report.findings) differences.push_back(json_of(finding));
    return json::serialize(json::object{{"run", report.run},
                                        {"sale", report.sale.view()},
                                        {"state", name_of(report.state)},
                                        {"at", format_rfc3339(report.at)},
                                        {"at_ms", to_ms(report.at)},
                                        {"trigger", name_of(report.trigger)},
                                        {"position", report.position},
                                        {"in_flight", report.in_flight},
                                        {"agrees", report.agrees()},
                                        {"differences_total", report.differences()},
                                        {"known_total", report.known_before()},
                                        {"repaired_total", report.repaired()},
                                        {"left_out", report.findings_left_out},
                                        {"items", std::move(items)},
                                        {"checks", std::move(compared)},
                                        {"differences", std::move(differences)}});
}

ReconcileRun run_of(const Report& report) {
    return {.number = report.run,
            .sale = report.sale,
            .at = report.at,
            .trigger = std::string(name_of(report.trigger)),
            .position = report.position,
            .agrees = report.agrees(),
            .differences = report.differences(),
            .known = report.known_before(),
            .repaired = report.repaired()};
}

std::vector<RunDifference> differences_of(const Report& report) {
    std::vector<RunDifference> all;
    all.reserve(report.findings.size());
    for (const Finding& finding : report.findings) {
        all.push_back({std::string(name_of(finding.difference.kind)), finding.difference.key(),
                       finding.difference.detail, finding.repair.words, std::string(name_of(finding.state))});
    }
    return all;
}

}  // namespace doorbuster::audit
