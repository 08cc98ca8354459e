#include <CLI/CLI.hpp>

#include "cli/command.hpp"

namespace doorbuster {

namespace {

int serve(CliRun& run) {
    const LoadedConfig loaded = load_for(run, Role::server);
    if (!loaded.config) return loaded.exit_code;
    if (!may_serve(run, *loaded.config)) {
        return run.fail("refusing to serve with this configuration (`doorbuster dev` makes its own keys)");
    }
    return run.hooks.serve(*loaded.config, read_again(run, {}));
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
