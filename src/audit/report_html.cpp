#include "audit/report_html.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <initializer_list>

namespace doorbuster::audit {

namespace json = boost::json;

namespace {

constexpr std::string_view style = R"css(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5c6672;--line:#d5dae0;--paper:#fff;--good:#18733a;--bad:#b3261e;--band:#f5f7f9}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9aa5b1;--line:#363d46;--paper:#14181d;--good:#6fcf8b;--bad:#ff8a80;--band:#1b2027}}
@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--good:#000;--bad:#000;--band:#fff}section{break-inside:avoid}}
body{margin:0 auto;max-width:70rem;padding:2rem 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
p{margin:.25rem 0}.soft{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}.verdict{font-size:1.2rem;font-weight:600}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right}tbody tr:nth-child(even){background:var(--band)}
article{border:1px solid var(--line);border-radius:.4rem;padding:.75rem 1rem;margin:.75rem 0;break-inside:avoid;overflow-wrap:anywhere}
code{font:13px/1.4 ui-monospace,monospace}
)css";

std::string text_of(const json::value* value) {
    if (value == nullptr || value->is_null()) return "-";
    if (value->is_string()) return escape_html(std::string_view(value->get_string()));
    if (value->is_bool()) return value->get_bool() ? "yes" : "no";
    if (value->is_int64()) return std::to_string(value->get_int64());
    if (value->is_uint64()) return std::to_string(value->get_uint64());
    return "-";
}
std::string text_of(const json::object& from, std::string_view name) {
    return text_of(from.if_contains(name));
}

struct Column {
    std::string_view field, heading;
    bool is_number = true;
};

std::string table(const json::object& report, std::string_view name, std::initializer_list<Column> columns) {
    std::string html = "<div class=\"scroll\"><table><thead><tr>";
    for (const Column& column : columns)
        html += fmt::format("<th{}>{}</th>", column.is_number ? " class=\"n\"" : "", column.heading);
    html += "</tr></thead><tbody>";
    const json::value* rows = report.if_contains(name);
    if (rows != nullptr && rows->is_array()) {
        for (const json::value& row : rows->get_array()) {
            if (!row.is_object()) continue;
            html += "<tr>";
            for (const Column& column : columns)
                html += fmt::format("<td{}>{}</td>", column.is_number ? " class=\"n\"" : "",
                                    text_of(row.get_object(), column.field));
            html += "</tr>";
        }
    }
    return html + "</tbody></table></div>";
}

std::string difference_html(const json::object& one) {
    std::string html =
        fmt::format("<article><p><strong>{}</strong> <span class=\"soft\">{}</span></p><p>{}</p>",
                    text_of(one, "kind"), text_of(one, "outcome"), text_of(one, "detail"));
    html += "<p class=\"soft\">";
    for (const std::string_view name :
         {"item", "buyer", "purchase", "order", "payment", "position", "sequence"}) {
        const std::string text = text_of(one, name);
        if (text != "-") html += fmt::format("{} <code>{}</code> ", name, text);
    }
    html += fmt::format("</p><p>Repair: {}</p>", text_of(one, "repair"));
    html += fmt::format("<p class=\"soft\">Key <code>{}</code></p>", text_of(one, "key"));
    const std::string error = text_of(one, "error");
    if (!error.empty() && error != "-") html += fmt::format("<p class=\"bad\">{}</p>", error);
    return html + "</article>";
}

}  // namespace

std::string escape_html(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\'':
                escaped += "&#39;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

std::string report_html(const json::object& report) {
    const std::string sale = text_of(report, "sale"), run = text_of(report, "run");
    const bool agrees = text_of(report, "agrees") == "yes";
    std::string html = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<title>{} · reconciliation {}</title><style>{}</style></head><body>\n",
        sale, run, style);
    html += fmt::format(
        "<header><h1>{}</h1><p class=\"soft\">Reconciliation {} · {} · {} · ledger position {} · {} in "
        "flight</p><p class=\"verdict {}\">{}</p></header>\n",
        sale, run, text_of(report, "at"), text_of(report, "trigger"), text_of(report, "position"),
        text_of(report, "in_flight"), agrees ? "good" : "bad",
        agrees ? "All records agree." : fmt::format("{} differences.", text_of(report, "differences_total")));
    html += "<section><h2>Units</h2>" +
            table(report, "items",
                  {{"id", "Item", false},
                   {"units_total", "In all"},
                   {"units_available", "Available"},
                   {"units_held", "Held"},
                   {"orders_held", "by orders"},
                   {"units_sold", "Sold"},
                   {"orders_sold", "by orders"},
                   {"orders_open", "Open"},
                   {"in_flight", "In flight"}}) +
            "</section>\n";
    html += "<section><h2>Checks</h2>" +
            table(report, "checks",
                  {{"check", "Check", false},
                   {"records", "Records"},
                   {"differences", "Differences"},
                   {"known", "Known"}}) +
            "</section>\n";
    const json::value* differences = report.if_contains("differences");
    if (differences != nullptr && differences->is_array() && !differences->get_array().empty()) {
        html += "<section><h2>Differences</h2>";
        for (const json::value& one : differences->get_array()) {
            if (one.is_object()) html += difference_html(one.get_object());
        }
        const std::string left_out = text_of(report, "left_out");
        if (left_out != "0" && left_out != "-") html += fmt::format("<p>And {} more.</p>", left_out);
        html += "</section>\n";
    }
    return html + "</body></html>\n";
}

}  // namespace doorbuster::audit
