#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <memory>

#include "base/percent.hpp"
#include "base/standard_webhooks.hpp"
#include "cli/admin_desk.hpp"
#include "cli/answer_text.hpp"
#include "cli/table.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

struct WebhookWords {
    AdminFlags admin;
    std::string event, state, before;
    uint32_t limit = 50;
};

void add_delivery(Table& table, const json::object& delivery) {
    table.add({answer_text(delivery, "event"), answer_text(delivery, "type"), answer_text(delivery, "sale"),
               answer_text(delivery, "order"), answer_text(delivery, "state"),
               answer_number(delivery, "attempts"), answer_text(delivery, "next_attempt_at")});
}
Table delivery_table() {
    return Table({"EVENT", "TYPE", "SALE", "ORDER", "STATE", "ATTEMPTS", "NEXT ATTEMPT"});
}

std::string list_table(const json::object& answer) {
    Table table = delivery_table();
    const json::value* list = answer.if_contains("deliveries");
    if (list == nullptr || !list->is_array()) return table.text();
    for (const json::value& one : list->get_array()) {
        if (one.is_object()) add_delivery(table, one.get_object());
    }
    std::string text = table.text();
    const std::string next = answer_text(answer, "next");
    if (next != "-") text += "older ones: --before " + next + "\n";
    return text;
}

std::string one_table(const json::object& answer) {
    Table table = delivery_table();
    const json::value* delivery = answer.if_contains("delivery");
    if (delivery != nullptr && delivery->is_object()) add_delivery(table, delivery->get_object());
    Table attempts({"ATTEMPT", "AT", "STATUS", "DURATION", "ERROR"});
    const json::value* list = answer.if_contains("attempts");
    if (list != nullptr && list->is_array()) {
        for (const json::value& one : list->get_array()) {
            if (!one.is_object()) continue;
            const json::object& attempt = one.get_object();
            attempts.add({answer_number(attempt, "number"), answer_text(attempt, "at"),
                          answer_number(attempt, "status"), answer_number(attempt, "duration_ms") + " ms",
                          answer_text(attempt, "error")});
        }
    }
    const json::value* payload = answer.if_contains("payload");
    std::string text = table.text() + "\n" + attempts.text();
    if (payload != nullptr) text += "\n" + printable(json::serialize(*payload)) + "\n";
    return text;
}

int list(CliRun& run, const WebhookWords& words) {
    std::string path = "/v1/deliveries?limit=" + std::to_string(words.limit);
    if (!words.state.empty()) path += "&state=" + percent_encoded(words.state);
    if (!words.before.empty()) path += "&before=" + percent_encoded(words.before);
    return AdminDesk(run, words.admin).show({.path = path}, list_table);
}

int resend(CliRun& run, const WebhookWords& words) {
    const std::string path = "/v1/deliveries/" + percent_encoded(words.event) + "/resend";
    return AdminDesk(run, words.admin)
        .show({.method = "POST", .path = path},
              [](const json::object& delivery) { return answer_text(delivery, "event") + " is sent again"; });
}

int secret(CliRun& run) {
    const std::string fresh = WebhookSecret::generate();
    run.print(run.as_json() ? json::serialize(json::object{{"secret", fresh}}) : fresh);
    return exit_ok;
}

}  // namespace

void add_webhooks_command(CLI::App& app, CliRun& run) {
    CLI::App* webhooks = app.add_subcommand("webhooks", "Shows what the shop was told, and tells it again");
    webhooks->require_subcommand(1);
    const auto words = std::make_shared<WebhookWords>();
    add_admin_flags(*webhooks, run, words->admin);
    const std::string footer = std::string(admin_footer) + help_footer(
                                                               "  doorbuster webhooks list --state failed\n"
                                                               "  doorbuster webhooks show evt_17\n"
                                                               "  doorbuster webhooks resend evt_17\n"
                                                               "  doorbuster webhooks secret\n");
    webhooks->footer(footer);
    auto add = [&](const std::string& name, const std::string& text, auto act) {
        CLI::App* command = webhooks->add_subcommand(name, text);
        command->footer(footer);
        command->callback(
            [&run, words, act] { run.chosen = [&run, words, act] { return act(run, *words); }; });
        return command;
    };
    auto add_event = [&](CLI::App* command) {
        command->add_option("EVENT", words->event, "The event's id, such as evt_17")
            ->required()
            ->option_text(" ");
    };

    CLI::App* listed = add("list", "Lists deliveries, the newest first", list);
    listed->add_option("--state", words->state, "Only those that are pending, delivered or failed")
        ->option_text("STATE")
        ->check(CLI::IsMember({"pending", "delivered", "failed"}));
    listed->add_option("--before", words->before, "Only those older than this event")->option_text("EVENT");
    listed->add_option("--limit", words->limit, "At most so many (50)")
        ->option_text("COUNT")
        ->check(CLI::Range(1u, 500u));
    add_event(
        add("show", "Shows one, its attempts and what is sent", [](CliRun& in, const WebhookWords& said) {
            return AdminDesk(in, said.admin)
                .show({.path = "/v1/deliveries/" + percent_encoded(said.event)}, one_table);
        }));
    add_event(add("resend", "Sends one again, now", resend));
    add("secret", "Prints a new secret for webhooks.secrets",
        [](CliRun& in, const WebhookWords&) { return secret(in); });
}

}  // namespace doorbuster
