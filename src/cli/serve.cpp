#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "config/secrets.hpp"

namespace doorbuster {

namespace {

int serve(CliRun& run) {
    const LoadedConfig loaded = load_for(run, Role::server);
    if (!loaded.config) return loaded.exit_code;
    const auto faults = secrets_check(*loaded.config);
    for (const std::string& fault : faults) run.fail(fault);
    if (!faults.empty())
        return run.fail("refusing to serve with these secrets (`doorbuster dev` makes its own)");
    return run.hooks.serve(*loaded.config);
}

}  // namespace

void add_serve_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand("serve", "Runs the server");
    add_server_flags(*command, run);
    command->footer(
        help_footer("  doorbuster serve --config /etc/doorbuster.toml\n"
                    "  DOORBUSTER_ADMIN__KEY_FILE=/run/secrets/admin doorbuster serve --threads 4\n"));
    command->callback([&run] { run.chosen = [&run] { return serve(run); }; });
}

}  // namespace doorbuster
