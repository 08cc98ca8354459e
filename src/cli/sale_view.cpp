#include "cli/sale_view.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "cli/table.hpp"

namespace doorbuster {

namespace {

using boost::json::object;

std::string text_in(const object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    if (value == nullptr || value->is_null()) return "-";
    return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
}

const object& object_in(const object& from, std::string_view name) {
    static const object none;
    const auto* value = from.if_contains(name);
    return value != nullptr && value->is_object() ? value->get_object() : none;
}

template <class F>
size_t for_each_in(const object& from, std::string_view name, F&& visit) {
    size_t count = 0;
    const auto* value = from.if_contains(name);
    if (value == nullptr || !value->is_array()) return count;
    for (const auto& entry : value->get_array()) {
        if (!entry.is_object()) continue;
        visit(entry.get_object());
        ++count;
    }
    return count;
}

}  // namespace

std::string sale_list_table(const object& answer) {
    Table table({"SALE", "TITLE", "STATE", "OPENS AT", "CLOSES AT", "ITEMS"});
    for_each_in(answer, "sales", [&](const object& sale) {
        const size_t items = for_each_in(sale, "items", [](const object&) {});
        table.add({text_in(sale, "id"), text_in(sale, "title"), text_in(sale, "state"),
                   text_in(sale, "opens_at"), text_in(sale, "closes_at"), std::to_string(items)});
    });
    return table.text();
}

std::string sale_table(const object& sale) {
    Table facts;
    facts.add({"sale", text_in(sale, "id")});
    facts.add({"title", text_in(sale, "title")});
    facts.add({"state", text_in(sale, "state")});
    facts.add({"version", text_in(sale, "version")});
    facts.add({"opens at", text_in(sale, "opens_at")});
    facts.add({"closes at", text_in(sale, "closes_at")});
    facts.add({"warm-up", text_in(sale, "warm_before_s") + " s before"});
    facts.add({"stock policy", text_in(sale, "stock_policy")});
    facts.add({"payment window", text_in(sale, "payment_window_s") + " s"});
    facts.add({"human check", text_in(sale, "human_check")});

    Table items({"ITEM", "NAME", "PRICE (MINOR)", "INSTEAD OF", "CURRENCY", "UNITS", "PER BUYER"});
    for_each_in(sale, "items", [&](const object& item) {
        items.add({text_in(item, "id"), text_in(item, "name"), text_in(item, "price_minor"),
                   text_in(item, "original_price_minor"), text_in(item, "currency"),
                   text_in(item, "units_total"), text_in(item, "units_per_buyer_max")});
    });
    return facts.text() + '\n' + items.text();
}

std::string status_table(const object& status) {
    const object& sale = object_in(status, "sale");
    const object& server = object_in(status, "server");

    Table items({"ITEM", "UNITS", "AVAILABLE", "HELD", "SOLD"});
    for_each_in(status, "items", [&](const object& item) {
        items.add({text_in(item, "id"), text_in(item, "units_total"), text_in(item, "units_available"),
                   text_in(item, "units_held"), text_in(item, "units_sold")});
    });
    Table figures;
    figures.add({"accepted", text_in(server, "acceptances_total")});
    figures.add({"ordered", text_in(server, "ordered_total")});
    figures.add({"cancelled", text_in(server, "cancelled_total")});
    figures.add({"dead letters", text_in(server, "dead_letters_total")});
    figures.add({"ledger position", text_in(server, "position")});
    figures.add({"waiting", text_in(server, "queued")});
    figures.add({"predicted wait", text_in(server, "predicted_wait_ms") + " ms"});
    return sale_sentence(sale) + "\n" + warm_up_text(status) + "\n" + items.text() +
           "\nthis server, since its start, over all sales:\n" + figures.text();
}

std::string sale_sentence(const object& sale) {
    return printable("sale '" + text_in(sale, "id") + "' is " + text_in(sale, "state") + " (version " +
                     text_in(sale, "version") + ")");
}

std::string warm_up_text(const object& status) {
    std::string text;
    for_each_in(status, "warm_up", [&](const object& finding) {
        text += printable(text_in(finding, "severity") + ": " + text_in(finding, "what")) +
                "\n  mend: " + printable(text_in(finding, "mend")) + "\n";
    });
    return text;
}

std::string rebuild_text(const object& rebuild) {
    Table books({"ITEM", "EPOCH", "STATE"});
    for_each_in(rebuild, "items", [&](const object& book) {
        books.add({text_in(book, "id"), text_in(book, "epoch"), text_in(book, "state")});
    });
    return printable("the books of sale '" + text_in(rebuild, "sale") + "'") + "\n\n" + books.text();
}

std::string restock_sentence(const object& sale, std::string_view item) {
    std::string units = "-";
    for_each_in(sale, "items", [&](const object& entry) {
        if (text_in(entry, "id") == item) units = text_in(entry, "units_total");
    });
    return printable("item '" + std::string(item) + "' of sale '" + text_in(sale, "id") + "' has " + units +
                     " units in all (version " + text_in(sale, "version") + ")");
}

}  // namespace doorbuster
