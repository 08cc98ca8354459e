#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "cli/command.hpp"

namespace doorbuster {

void add_version_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand("version", "Prints the version");
    command->footer(help_footer("  doorbuster version -o json\n"));
    command->callback([&run] {
        run.chosen = [&run] {
            const boost::json::value answer{{"version", run.hooks.version}};
            run.print(run.as_json() ? boost::json::serialize(answer) : "doorbuster " + run.hooks.version);
            return exit_ok;
        };
    });
}

}  // namespace doorbuster
