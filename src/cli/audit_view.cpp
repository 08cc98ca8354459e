#include "cli/audit_view.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "cli/table.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

std::string text_in(const json::object& from, std::string_view name) {
    const json::value* value = from.if_contains(name);
    if (value == nullptr || value->is_null()) return "-";
    if (value->is_bool()) return value->get_bool() ? "yes" : "no";
    return value->is_string() ? printable(std::string_view(value->get_string())) : json::serialize(*value);
}

template <class F>
void for_each_in(const json::object& from, std::string_view name, F&& visit) {
    const json::value* value = from.if_contains(name);
    if (value == nullptr || !value->is_array()) return;
    for (const json::value& one : value->get_array()) {
        if (one.is_object()) visit(one.get_object());
    }
}

std::string difference_text(const json::object& one) {
    std::string text = "\n" + text_in(one, "kind") + "  " + text_in(one, "where") + "  (" +
                       text_in(one, "outcome") + ")\n  " + text_in(one, "detail") + "\n  ";
    for (const std::string_view name :
         {"item", "buyer", "purchase", "order", "payment", "position", "sequence"}) {
        const std::string id = text_in(one, name);
        if (id != "-") text += std::string(name) + " " + id + "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n  repair: " + text_in(one, "repair") + "\n";
    const std::string key = text_in(one, "key");
    if (key != "-") text += "  key: " + key + "\n";
    const std::string error = text_in(one, "error");
    if (error != "-" && !error.empty()) text += "  failed: " + error + "\n";
    return text;
}

std::string report_text(const json::object& report) {
    std::string text = "sale " + text_in(report, "sale") + ", reconciliation " + text_in(report, "run") +
                       " at " + text_in(report, "at") + ", ledger position " + text_in(report, "position") +
                       ", " + text_in(report, "in_flight") + " in flight\n\n";
    Table items(
        {"ITEM", "IN ALL", "AVAILABLE", "HELD", "BY ORDERS", "SOLD", "BY ORDERS", "OPEN", "IN FLIGHT"});
    for_each_in(report, "items", [&](const json::object& item) {
        items.add({text_in(item, "id"), text_in(item, "units_total"), text_in(item, "units_available"),
                   text_in(item, "units_held"), text_in(item, "orders_held"), text_in(item, "units_sold"),
                   text_in(item, "orders_sold"), text_in(item, "orders_open"), text_in(item, "in_flight")});
    });
    Table checks({"CHECK", "RECORDS", "DIFFERENCES", "KNOWN"});
    for_each_in(report, "checks", [&](const json::object& check) {
        checks.add({text_in(check, "check"), text_in(check, "records"), text_in(check, "differences"),
                    text_in(check, "known")});
    });
    text += items.text() + "\n" + checks.text();
    for_each_in(report, "differences", [&](const json::object& one) { text += difference_text(one); });
    const std::string left_out = text_in(report, "left_out");
    if (left_out != "-" && left_out != "0") text += "\nand " + left_out + " more\n";
    return text + "\n" +
           (text_in(report, "agrees") == "yes" ? "all records agree\n"
                                               : text_in(report, "differences_total") + " differences, " +
                                                     text_in(report, "repaired_total") + " repaired\n");
}

}  // namespace

std::string reconciliation_text(const json::object& answer) {
    std::string text;
    for (const std::string_view name : {"report", "after_repair"}) {
        const json::value* found = answer.if_contains(name);
        if (found == nullptr || !found->is_object()) continue;
        if (!text.empty()) text += "\nafter the repair:\n";
        text += report_text(found->get_object());
    }
    return text;
}

std::string reconciliations_table(const json::object& answer) {
    Table table({"RUN", "AT", "BY", "POSITION", "AGREES", "DIFFERENCES", "KNOWN", "REPAIRED"});
    for_each_in(answer, "reconciliations", [&](const json::object& run) {
        table.add({text_in(run, "run"), text_in(run, "at"), text_in(run, "trigger"), text_in(run, "position"),
                   text_in(run, "agrees"), text_in(run, "differences_total"), text_in(run, "known_total"),
                   text_in(run, "repaired_total")});
    });
    return table.text();
}

std::string replay_text(const json::object& answer) {
    Table facts;
    facts.add({"sale", text_in(answer, "sale")});
    facts.add({"ledger position", text_in(answer, "position")});
    facts.add({"records replayed", text_in(answer, "ledger_records")});
    facts.add({"moves replayed", text_in(answer, "moves")});
    facts.add({"in flight", text_in(answer, "in_flight")});
    facts.add({"replayed", text_in(answer, "digest_replayed")});
    facts.add({"stored", text_in(answer, "digest_stored")});
    std::string text = facts.text();
    const auto add_lines = [&](std::string_view field, std::string_view label) {
        const json::value* lines = answer.if_contains(field);
        if (lines == nullptr || !lines->is_array()) return;
        for (const json::value& one : lines->get_array()) {
            if (!one.is_string()) continue;
            text.append(label).append(printable(std::string_view(one.get_string()))).append("\n");
        }
    };
    add_lines("mismatches", "");
    add_lines("not_compared", "not compared: ");
    return text + (text_in(answer, "agrees") == "yes"
                       ? "the same came out, bit for bit\n"
                       : text_in(answer, "mismatches_total") + " mismatches\n");
}

}  // namespace doorbuster
