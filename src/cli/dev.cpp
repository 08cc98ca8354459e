#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/dev_keys.hpp"

namespace doorbuster {

namespace {

int dev(CliRun& run) {
    LoadedConfig loaded = load_for(run, Role::server);
    if (!loaded.config) return loaded.exit_code;
    const auto prepared = prepare_dev_keys(*loaded.config);
    if (!prepared) return run.fail(prepared.error());
    if (!may_serve(run, *loaded.config)) return exit_failed;  // a secret that somebody gave may be too short
    return run.hooks.dev(*loaded.config, {.keys_file = dev_keys_file(*loaded.config),
                                          .read_again = read_again(run, prepare_dev_keys)});
}

}  // namespace

void add_dev_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand(
        "dev", "Runs a server to try out: generated keys, demo sales, a demo sign-in; data in ./data");
    add_server_flags(*command, run);
    command->footer(
        help_footer("  doorbuster dev\n"
                    "  doorbuster dev --listen 127.0.0.1:9000 --store-path /tmp/try\n"));
    command->callback([&run] { run.chosen = [&run] { return dev(run); }; });
}

}  // namespace doorbuster
