#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/check.hpp"
#include "cli/command.hpp"
#include "cli/dev_keys.hpp"
#include "config/contradictions.hpp"

namespace doorbuster {

void CliRun::print(std::string_view text) {
    world.out << text;
    if (!text.ends_with('\n')) world.out << '\n';
}

std::string fault_of_number(const std::string& text) {
    const bool is_digits =
        !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    return is_digits && text.size() < 20 ? "" : "must be a whole number, and is '" + text + "'";
}

int CliRun::fail(std::string_view sentence, int code) {
    world.err << "doorbuster: " << sentence << '\n';
    return code;
}

namespace {

// The flag sets an option; its help comes from the option's own declaration.
void add_option_flag(CLI::App& command, CliRun& run, const std::string& flag, const std::string& option) {
    Config declarations;
    const AnyOption* declared = declarations.find(option);
    CHECK(declared != nullptr);
    const std::string_view text = declared->text();
    const std::string_view first_sentence = text.substr(0, text.find(". "));
    const auto remember = [&run, flag, option](const std::string& value) {
        run.flags.push_back({option, value, flag});
    };
    command.add_option_function<std::string>(flag, remember, std::string(first_sentence))
        ->option_text("VALUE (" + declared->default_text() + ")");
}

}  // namespace

void add_server_flags(CLI::App& command, CliRun& run) {
    add_option_flag(command, run, "--listen", "server.listen");
    add_option_flag(command, run, "--admin-listen", "admin.listen");
    add_option_flag(command, run, "--threads", "server.threads");
    add_option_flag(command, run, "--backend", "store.backend");
    add_option_flag(command, run, "--roles", "server.roles");
    add_store_path_flag(command, run);
}

void add_store_path_flag(CLI::App& command, CliRun& run) {
    add_option_flag(command, run, "--store-path", "store.path");
}

std::string help_footer(std::string_view examples) {
    return "Every command also takes:\n"
           "  -c,--config FILE            the configuration file, instead of ./doorbuster.toml\n"
           "  --set KEY=VALUE             one option, such as log.level=debug; may be repeated\n"
           "  -o,--output json|table      how data is printed\n"
           "\nExamples:\n" +
           std::string(examples);
}

namespace {

// Nothing, and told, if a --set is none.
std::optional<ConfigSources> sources_of(CliRun& run) {
    ConfigSources sources;
    if (!run.config_file.empty()) sources.file = run.config_file;
    sources.environment = run.world.environment;
    for (const std::string& setting : run.settings) {
        const size_t equals = setting.find('=');
        if (equals == setting.npos) {
            run.fail("--set wants KEY=VALUE, not '" + setting + "'", exit_usage);
            return std::nullopt;
        }
        sources.flags.push_back({setting.substr(0, equals), setting.substr(equals + 1), "--set"});
    }
    sources.flags.insert(sources.flags.end(), run.flags.begin(), run.flags.end());
    return sources;
}

}  // namespace

LoadedConfig load_for(CliRun& run, Role role) {
    const auto sources = sources_of(run);
    if (!sources) return {std::nullopt, exit_usage};

    auto loaded = load_config(*sources);
    if (loaded && role == Role::client) {
        if (const auto borrowed = borrow_dev_keys(*loaded); !borrowed) {
            return {std::nullopt, run.fail(borrowed.error())};
        }
    }
    if (loaded) return {*std::move(loaded), exit_ok};
    int code = exit_failed;
    for (const ConfigFault& fault : loaded.error()) {
        run.fail(fault.text);
        if (fault.source == Source::flag) code = exit_usage;
    }
    return {std::nullopt, code};
}

Reloader::Read read_again(CliRun& run, std::function<Result<void, std::string>(Config&)> fill_in) {
    const auto sources = sources_of(run);
    CHECK(sources);  // they were read once
    return [sources = *sources, fill_in = std::move(fill_in)]() -> Result<Config, ReloadFaults> {
        auto loaded = load_config(sources);
        if (!loaded) {
            ReloadFaults faults;
            for (const ConfigFault& fault : loaded.error()) faults.push_back(fault.text);
            return faults;
        }
        if (fill_in) {
            if (const auto filled = fill_in(*loaded); !filled) return ReloadFaults{filled.error()};
        }
        if (ReloadFaults faults = serving_faults(*loaded); !faults.empty()) return faults;
        return *std::move(loaded);
    };
}

bool may_serve(CliRun& run, const Config& config) {
    const std::vector<std::string> faults = serving_faults(config);
    for (const std::string& fault : faults) run.fail(fault);
    return faults.empty();
}

std::string missing_secret_text(const Config& config, const Option<std::string>& secret) {
    const std::string file = config.file.empty() ? "doorbuster.toml" : config.file;
    return secret.name() + " is missing: neither " + secret.environment_name() + " nor " + file + " nor " +
           dev_keys_file(config) + " has it; set " + secret.environment_name() +
           ", or give --config FILE, or --store-path FOLDER for the data folder of a `doorbuster dev`";
}

}  // namespace doorbuster
