#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/answer_text.hpp"
#include "cli/table.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

struct LettersWords {
    AdminFlags admin;
    std::string position, after;
};

constexpr size_t page_size = 100;  // of the interface

std::string letters_table(const json::object& answer) {
    Table table({"POSITION", "STATE", "BURIED", "REASON", "RECORD"});
    std::string last;
    const json::value* letters = answer.if_contains("dead_letters");
    if (letters == nullptr || !letters->is_array()) return table.text();
    for (const json::value& letter : letters->get_array()) {
        if (!letter.is_object()) continue;
        const json::object& fields = letter.get_object();
        table.add({answer_number(fields, "position"), answer_text(fields, "state"),
                   answer_text(fields, "buried_at"), answer_text(fields, "reason"),
                   answer_text(fields, "record")});
        last = answer_number(fields, "position");
    }
    if (letters->get_array().size() < page_size) return table.text();
    return table.text() + "\nthere may be more: doorbuster dead-letters list --after " + last;
}

std::string letter_sheet(const json::object& letter) {
    return "position   " + answer_number(letter, "position") + "\nstate      " +
           answer_text(letter, "state") + "\nburied at  " + answer_text(letter, "buried_at") +
           "\nreason     " + answer_text(letter, "reason") + "\nrecord     " + answer_text(letter, "record");
}

}  // namespace

void add_letters_command(CLI::App& app, CliRun& run) {
    CLI::App* letters = app.add_subcommand(
        "dead-letters",
        "Accepted purchases that could not be made into orders, and what is to become of them");
    letters->require_subcommand(1);
    const auto words = std::make_shared<LettersWords>();
    add_admin_flags(*letters, run, words->admin);
    const std::string footer = std::string(admin_footer) + help_footer(
                                                               "  doorbuster dead-letters list\n"
                                                               "  doorbuster dead-letters show 17\n"
                                                               "  doorbuster dead-letters retry 17\n"
                                                               "  doorbuster dead-letters drop 17\n");
    letters->footer(footer);
    auto add = [&](const std::string& name, const std::string& text, bool takes_position,
                   auto act) -> CLI::App& {
        CLI::App* command = letters->add_subcommand(name, text);
        command->footer(footer);
        if (takes_position) {
            command->add_option("POSITION", words->position, "Its position in the ledger")
                ->required()
                ->option_text(" ")
                ->check(fault_of_number);
        }
        command->callback(
            [&run, words, act] { run.chosen = [&run, words, act] { return act(run, *words); }; });
        return *command;
    };
    add("list", "Lists them, those that were dealt with included; a hundred at a time", false,
        [](CliRun& in, LettersWords& said) {
            const std::string query = said.after.empty() ? "" : "?after=" + said.after;
            return AdminDesk(in, said.admin).show({.path = "/v1/dead-letters" + query}, letters_table);
        })
        .add_option("--after", words->after, "Only those behind this position")
        ->option_text("POSITION")
        ->check(fault_of_number);
    add("show", "Shows one of them", true, [](CliRun& in, LettersWords& said) {
        return AdminDesk(in, said.admin).show({.path = "/v1/dead-letters/" + said.position}, letter_sheet);
    });
    auto end = [](const std::string& how, const std::string& sentence) {
        return [how, sentence](CliRun& in, LettersWords& said) {
            return AdminDesk(in, said.admin)
                .show({.method = "POST", .path = "/v1/dead-letters/" + said.position + '/' + how},
                      [&](const json::object&) { return "dead letter " + said.position + sentence; });
        };
    };
    add("retry", "Asks the book for a unit once more: it becomes an order if one is left", true,
        end("retry", " becomes an order"));
    add("drop", "Lets its cancellation stand", true,
        end("drop", " is dropped: its purchase stays cancelled"));
}

}  // namespace doorbuster
