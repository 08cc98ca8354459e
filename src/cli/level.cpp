#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/answer_text.hpp"
#include "funnel/level.hpp"

namespace doorbuster {

namespace {

struct LevelWords {
    AdminFlags admin;
    std::string level;  // empty: show
};

// "the level is no_browse since 2026-12-01T12:00:00.000Z (set by the operator)"
std::string level_sentence(const boost::json::object& answer) {
    const std::string who = answer_text(answer, "set_by");
    std::string sentence = "the level is " + answer_text(answer, "level");
    sentence += " since " + answer_text(answer, "since");
    if (who != "none") sentence += " (set by the " + who + ")";
    return sentence;
}

int act(CliRun& run, const LevelWords& words) {
    AdminDesk desk(run, words.admin);
    if (words.level.empty()) return desk.show({.path = "/v1/level"}, level_sentence);
    if (!OperatorLevel::from(words.level)) {
        return run.fail("'" + words.level + "' is no level: auto, normal, no_browse, purchase_only or closed",
                        exit_usage);
    }
    const boost::json::value body{{"level", words.level}};
    return desk.show({.method = "PUT", .path = "/v1/level", .body = boost::json::serialize(body)},
                     level_sentence);
}

}  // namespace

void add_level_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand("level", "Shows or sets how much the server leaves out");
    const auto words = std::make_shared<LevelWords>();
    add_admin_flags(*command, run, words->admin);
    command->add_option("LEVEL", words->level, "auto, normal, no_browse, purchase_only or closed")
        ->option_text(" ");
    command->footer(
        "  normal         everything is answered\n"
        "  no_browse      the catalogue from the cache only, no order lists\n"
        "  purchase_only  no browsing at all\n"
        "  closed         nothing is answered but a page that says so\n"
        "  auto           what the overload detector finds right\n"
        "The detector may go above a level that is set, never below it.\n" +
        std::string(admin_footer) +
        help_footer("  doorbuster level\n"
                    "  doorbuster level purchase_only\n"
                    "  doorbuster level auto\n"));
    command->callback([&run, words] { run.chosen = [&run, words] { return act(run, *words); }; });
}

}  // namespace doorbuster
