#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/audit_view.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

constexpr std::chrono::seconds patience{600};  // every record of the sale is decided once more

struct ReplayWords {
    AdminFlags admin;
    std::string sale;
};

int replay(CliRun& run, const ReplayWords& words) {
    if (!is_slug(words.sale)) {
        return run.fail(
            "'" + words.sale + "' is not a sale's id: lower-case letters, digits and inner hyphens",
            exit_usage);
    }
    AdminDesk desk(run, words.admin);
    const auto answer =
        desk.ask({.method = "POST", .path = "/v1/sales/" + words.sale + "/replay", .deadline = patience});
    if (!answer) return desk.code();
    boost::system::error_code error;
    const json::value parsed = json::parse(answer->body, error);
    const json::object* object = error ? nullptr : parsed.if_object();
    const json::value* agrees = object == nullptr ? nullptr : object->if_contains("agrees");
    if (agrees == nullptr || !agrees->is_bool())
        return run.fail("the server's answer is not a replay: is it a Doorbuster?");
    run.print(run.as_json() ? answer->body : replay_text(*object));
    return agrees->get_bool() ? exit_ok : exit_differs;
}

}  // namespace

void add_replay_command(CLI::App& app, CliRun& run) {
    CLI::App* command =
        app.add_subcommand("replay", "Rebuilds a sale from the ledger through the book, and compares");
    const auto words = std::make_shared<ReplayWords>();
    add_admin_flags(*command, run, words->admin);
    command->add_option("SALE", words->sale, "The sale's id")->required()->option_text(" ");
    command->footer("Exit code 0: the stored outcome came out once more, bit for bit; 4: it did not.\n" +
                    std::string(admin_footer) + help_footer("  doorbuster replay phone-drop\n"));
    command->callback([&run, words] { run.chosen = [&run, words] { return replay(run, *words); }; });
}

}  // namespace doorbuster
