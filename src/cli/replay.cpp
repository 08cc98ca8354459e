#include <CLI/CLI.hpp>
#include <memory>

#include "cli/audit_question.hpp"
#include "cli/audit_view.hpp"

namespace doorbuster {

namespace {

struct ReplayWords {
    AdminFlags admin;
    std::string sale;
};

int replay(CliRun& run, const ReplayWords& words) {
    const auto path = sale_path(run, words.sale, "/replay");
    if (!path) return exit_usage;
    AdminDesk desk(run, words.admin);
    const auto answer = ask_audit(run, desk, {.path = *path}, "a replay");
    if (!answer) return desk.code();
    run.print(run.as_json() ? answer->body : replay_text(answer->object));
    return answer->exit_code();
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
