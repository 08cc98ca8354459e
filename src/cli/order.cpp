#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/answer_text.hpp"
#include "cli/table.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

struct OrderWords {
    AdminFlags admin;
    std::string order, reason;
    bool keeps_units = false;
};

std::string order_sheet(const json::object& order) {
    std::string sheet;
    for (const char* field : {"id", "state", "sale", "item", "buyer", "purchase", "created_at", "pay_by"}) {
        std::string name = field;
        name.resize(12, ' ');
        sheet += name + answer_text(order, field) + '\n';
    }
    sheet += "amount      " + answer_number(order, "amount_minor") + ' ' + answer_text(order, "currency") +
             " in minor units\n";
    if (const std::string reason = answer_text(order, "reason"); reason != "-")
        sheet += "reason      " + reason + '\n';
    Table table({"PAYMENT", "STATE", "ASKED (MINOR)", "CAPTURED (MINOR)", "UPDATED"});
    const json::value* payments = order.if_contains("payments");
    if (payments != nullptr && payments->is_array()) {
        for (const json::value& payment : payments->get_array()) {
            if (!payment.is_object()) continue;
            const json::object& fields = payment.get_object();
            table.add(
                {answer_text(fields, "id"), answer_text(fields, "state"),
                 answer_number(fields, "amount_minor") + ' ' + answer_text(fields, "currency"),
                 answer_number(fields, "captured_minor") + ' ' + answer_text(fields, "captured_currency"),
                 answer_text(fields, "updated_at")});
        }
    }
    return sheet + '\n' + table.text();
}

int refund(CliRun& run, const OrderWords& words) {
    json::object body{{"units_return", !words.keeps_units}};
    if (!words.reason.empty()) body["reason"] = words.reason;
    return AdminDesk(run, words.admin)
        .show({.method = "POST",
               .path = "/v1/orders/" + words.order + "/refund",
               .body = json::serialize(body)},
              [](const json::object& order) {
                  return "order " + answer_text(order, "id") + " is " + answer_text(order, "state");
              });
}

}  // namespace

void add_order_command(CLI::App& app, CliRun& run) {
    CLI::App* order = app.add_subcommand("order", "Shows one order with its payments, or refunds it");
    order->require_subcommand(1);
    const auto words = std::make_shared<OrderWords>();
    add_admin_flags(*order, run, words->admin);
    const std::string footer =
        std::string(admin_footer) + help_footer(
                                        "  doorbuster order show 388214112591872\n"
                                        "  doorbuster order refund 388214112591872 --reason 'damaged'\n"
                                        "  doorbuster order refund 388214112591872 --keep-units\n");
    order->footer(footer);
    auto add = [&](const std::string& name, const std::string& text, auto act) {
        CLI::App* command = order->add_subcommand(name, text);
        command->footer(footer);
        command->add_option("ORDER", words->order, "The order's id")
            ->required()
            ->option_text(" ")
            ->check(fault_of_number);
        command->callback(
            [&run, words, act] { run.chosen = [&run, words, act] { return act(run, *words); }; });
        return command;
    };
    add("show", "Shows an order and every attempt to pay for it", [](CliRun& in, OrderWords& said) {
        return AdminDesk(in, said.admin).show({.path = "/v1/orders/" + said.order}, order_sheet);
    });
    CLI::App* back = add("refund", "Gives the money of a paid order back", refund);
    back->add_option("--reason", words->reason, "What the buyer reads")->option_text("TEXT");
    back->add_flag("--keep-units", words->keeps_units,
                   "The units stay sold: the buyer keeps them, or they cannot be sold again");
}

}  // namespace doorbuster
