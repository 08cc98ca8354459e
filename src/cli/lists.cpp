#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <memory>

#include "base/percent.hpp"
#include "cli/admin_desk.hpp"
#include "cli/answer_text.hpp"
#include "cli/table.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

struct ListsWords {
    AdminFlags admin;
    std::string list, kind, value;
};
using Words = std::shared_ptr<ListsWords>;

std::string lists_table(const json::object& answer) {
    Table table({"LIST", "KIND", "VALUE", "FROM"});
    const json::value* entries = answer.if_contains("entries");
    if (entries == nullptr || !entries->is_array()) return table.text();
    for (const json::value& entry : entries->get_array()) {
        if (!entry.is_object()) continue;
        const json::object& fields = entry.get_object();
        table.add({answer_text(fields, "list"), answer_text(fields, "kind"), answer_text(fields, "value"),
                   answer_text(fields, "from")});
    }
    return table.text();
}

int change(CliRun& run, const ListsWords& words, const std::string& method, const std::string& done) {
    AdminDesk desk(run, words.admin);
    const std::string path =
        "/v1/lists/" + words.list + '/' + words.kind + '/' + percent_encoded(words.value);
    return desk.show({.method = method, .path = path}, [&](const json::object& entry) {
        return answer_text(entry, "kind") + " '" + answer_text(entry, "value") + "' " + done;
    });
}

void add_value(CLI::App& command, ListsWords& words) {
    command.add_option("KIND", words.kind, "address or buyer")
        ->required()
        ->option_text(" ")
        ->check(CLI::IsMember({"address", "buyer"}));
    command.add_option("VALUE", words.value, "An address or range (203.0.113.0/24), or a buyer's id")
        ->required()
        ->option_text(" ");
}

}  // namespace

void add_lists_command(CLI::App& app, CliRun& run) {
    CLI::App* lists = app.add_subcommand("lists", "Blocks or allows addresses and buyers, from now on");
    lists->require_subcommand(1);
    const auto words = std::make_shared<ListsWords>();
    add_admin_flags(*lists, run, words->admin);
    const std::string footer =
        std::string(admin_footer) + help_footer(
                                        "  doorbuster lists show\n"
                                        "  doorbuster lists block address 203.0.113.0/24\n"
                                        "  doorbuster lists allow buyer alice\n"
                                        "  doorbuster lists remove block address 203.0.113.0/24\n");
    lists->footer(footer);
    auto add = [&](const std::string& name, const std::string& text, auto act) {
        CLI::App* command = lists->add_subcommand(name, text);
        command->footer(footer);
        command->callback(
            [&run, words, act] { run.chosen = [&run, words, act] { return act(run, *words); }; });
        return command;
    };

    add("show", "Shows every entry, those of risk.lists_file included", [](CliRun& in, ListsWords& said) {
        return AdminDesk(in, said.admin).show({.path = "/v1/lists"}, lists_table);
    });
    for (const std::string name : {"block", "allow"}) {
        CLI::App* command = add(
            name,
            name == "block" ? "Refuses whatever comes from it" : "Lets it pass the limits and the strikes",
            [name](CliRun& in, ListsWords& said) {
                said.list = name;
                return change(in, said, "PUT", name == "block" ? "is blocked" : "is allowed");
            });
        add_value(*command, *words);
    }
    CLI::App* remove = add("remove", "Takes an entry off a list", [](CliRun& in, ListsWords& said) {
        return change(in, said, "DELETE", "is off the " + said.list + " list");
    });
    remove->add_option("LIST", words->list, "block or allow")
        ->required()
        ->option_text(" ")
        ->check(CLI::IsMember({"block", "allow"}));
    add_value(*remove, *words);
}

}  // namespace doorbuster
