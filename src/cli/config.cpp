#include "config/config.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "config/reference.hpp"
#include "config/text_file.hpp"
#include "funnel/jwks.hpp"
#include "funnel/risk_lists.hpp"
#include "server/file_watch.hpp"

namespace doorbuster {

namespace {

// Of the files that the options name, as `serve` would meet them.
std::vector<std::string> file_faults(const Config& config) {
    std::vector<std::string> faults;
    const auto tell = [&](const Option<std::string>& option, const std::string& reason) {
        faults.push_back(option.name() + " (" + option.value() + "): " + reason);
    };
    const auto& keys_file = config.identity.keys_file;
    if (!keys_file.value().empty()) {
        const auto text = read_text_file(keys_file, jwks_bytes_max);
        if (!text) {
            tell(keys_file, text.error());
        } else if (const auto keys = parse_jwks(*text); !keys) {
            tell(keys_file, keys.error());
        }
    }
    const auto& lists_file = config.risk.lists_file;
    if (const auto text = FileWatch(lists_file).read(); !text) {
        tell(lists_file, text.error());
    } else if (const auto entries = parse_lists(*text); !entries) {
        for (const std::string& fault : entries.error()) tell(lists_file, fault);
    }
    return faults;
}

int check(CliRun& run) {
    const LoadedConfig loaded = load_for(run, Role::server);
    if (!loaded.config) return loaded.exit_code;
    const std::vector<std::string> of_files = file_faults(*loaded.config);
    for (const std::string& fault : of_files) run.fail(fault);
    if (!may_serve(run, *loaded.config) || !of_files.empty()) return exit_failed;
    const std::string& file = loaded.config->file;
    if (run.as_json()) {
        const boost::json::value name = file.empty() ? boost::json::value() : boost::json::value(file);
        run.print(boost::json::serialize(boost::json::value{{"ok", true}, {"file", name}}));
    } else {
        run.print("the configuration is good (" + (file.empty() ? "no file" : file) + ")");
    }
    return exit_ok;
}

// Where it came from, in the words that a person would look for.
std::string origin_text(const AnyOption& option) {
    return option.origin().source == Source::built_in ? "default" : option.origin().where;
}

std::string as_table(const Config& config) {
    Table table({"OPTION", "VALUE", "FROM"});
    for (const AnyOption* option : config.options()) {
        table.add({option->name(), option->value_text(), origin_text(*option)});
    }
    return table.text();
}

boost::json::value json_value(const AnyOption& option) {
    if (option.is_text()) return boost::json::value(option.value_text());
    return boost::json::parse(option.value_text());  // numbers and booleans are written alike
}

std::string as_json(const Config& config) {
    boost::json::array options;
    for (const AnyOption* option : config.options()) {
        options.push_back({{"name", option->name()},
                           {"value", json_value(*option)},
                           {"source", name_of(option->origin().source)},
                           {"from", origin_text(*option)}});
    }
    return boost::json::serialize(boost::json::value{{"options", options}});
}

int print(CliRun& run, bool reference) {
    if (reference) {
        run.print(reference_toml());
        return exit_ok;
    }
    const LoadedConfig loaded = load_for(run, Role::server);
    if (!loaded.config) return loaded.exit_code;
    run.print(run.as_json() ? as_json(*loaded.config) : as_table(*loaded.config));
    return exit_ok;
}

}  // namespace

void add_config_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand("config", "Checks or prints the configuration");
    command->require_subcommand(1);
    command->footer(
        help_footer("  doorbuster config check --config doorbuster.toml\n"
                    "  doorbuster config print -o json\n"
                    "  doorbuster config print --reference > doorbuster.toml\n"));

    CLI::App* check_command = command->add_subcommand("check", "Says whether `serve` would accept it");
    check_command->callback([&run] { run.chosen = [&run] { return check(run); }; });

    CLI::App* print_command = command->add_subcommand(
        "print", "Prints every option, its value and where it came from; secrets as ***");
    const auto reference = std::make_shared<bool>(false);
    print_command->add_flag("--reference", *reference,
                            "Prints a configuration file with every option, its default and its trade-off");
    print_command->callback(
        [&run, reference] { run.chosen = [&run, reference] { return print(run, *reference); }; });
    for (CLI::App* inner : {check_command, print_command}) inner->footer(command->get_footer());
}

}  // namespace doorbuster
