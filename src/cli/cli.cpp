#include "cli/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>

#include "cli/command.hpp"
#include "cli/usage.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view examples =
    "  doorbuster dev                              a server to try out, with a demo sale\n"
    "  doorbuster sale list                        in a second terminal beside it\n"
    "  doorbuster buyer-token alice                a token to buy with\n"
    "  doorbuster config print --reference         every option, its default, its trade-off\n";

void add_common_flags(CLI::App& app, CliRun& run) {
    app.add_option("-c,--config", run.config_file,
                   "The configuration file (./doorbuster.toml if it exists; DOORBUSTER_CONFIG)")
        ->option_text("FILE");
    app.add_option("--set", run.settings, "Sets one option, such as log.level=debug; may be repeated")
        ->option_text("KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option("-o,--output", run.output, "How data is printed: table (default) or json")
        ->option_text("json|table")
        ->check(CLI::IsMember({"json", "table"}));
}

int run_words(const std::vector<std::string>& words, CliWorld& world, const CliHooks& hooks) {
    CliRun run{.world = world, .hooks = hooks};
    CLI::App app(
        "Doorbuster sells N units to everyone who presses the button in the same second,\n"
        "never one more, and keeps every yes.",
        "doorbuster");
    app.fallthrough();          // the common flags may stand before or after the command
    app.require_subcommand(1);  // exactly one, or a buyer named "dev" would be taken for a second
    app.set_version_flag("-V,--version", "doorbuster " + hooks.version);
    app.footer("Examples:\n" + std::string(examples));
    add_common_flags(app, run);
    add_serve_command(app, run);
    add_dev_command(app, run);
    add_sale_command(app, run);
    add_publish_command(app, run);
    add_order_command(app, run);
    add_letters_command(app, run);
    add_reconcile_command(app, run);
    add_replay_command(app, run);
    add_level_command(app, run);
    add_lists_command(app, run);
    add_reload_command(app, run);
    add_buyer_token_command(app, run);
    add_webhooks_command(app, run);
    add_listen_command(app, run);
    add_sandbox_pay_command(app, run);
    add_config_command(app, run);
    add_version_command(app, run);

    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes them from the back
    } catch (const CLI::Success& asked) {                                   // --help, --version
        return app.exit(asked, world.out, world.err);
    } catch (const CLI::ParseError& error) {
        const std::string unknown = unknown_word(app, words);
        run.fail(unknown.empty() ? error.what() : unknown, exit_usage);
        world.err << "Try 'doorbuster --help', or --help after a command.\n";
        return exit_usage;
    }
    return run.chosen();
}

}  // namespace

int run_cli(const std::vector<std::string>& words, CliWorld& world, const CliHooks& hooks) {
    int code;
    try {
        code = run_words(words, world, hooks);
    } catch (const std::exception& error) {
        world.err << "doorbuster: " << error.what() << '\n';
        return exit_failed;
    }
    world.out.flush();
    if (code == exit_ok && !world.out) {  // a full disk must not look like an empty answer
        world.err << "doorbuster: cannot write to standard output\n";
        return exit_failed;
    }
    return code;
}

int run_cli(int argc, char** argv, const CliHooks& hooks) {
    CliWorld world{std::cin, std::cout, std::cerr, process_environment()};
    return run_cli(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), world, hooks);
}

}  // namespace doorbuster
