#include "config/load.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "config/did_you_mean.hpp"
#include "config/text_file.hpp"
#include "config/toml_file.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view prefix = "DOORBUSTER_";
constexpr std::string_view config_variable = "DOORBUSTER_CONFIG";
constexpr std::string_view file_suffix = "_FILE";

// One load: the config so far, and what was wrong so far.
class Loading {
public:
    explicit Loading(const ConfigSources& sources) : sources_(sources) {
        for (const AnyOption* option : config_.options()) {
            names_.push_back(option->name());
            variables_.push_back(option->environment_name());
            if (option->is_secret())
                variables_.push_back(option->environment_name() + std::string(file_suffix));
        }
        variables_.emplace_back(config_variable);
    }

    Result<Config, std::vector<ConfigFault>> run() {
        read_file();
        read_environment();
        read_flags();
        if (!faults_.empty()) return faults_;
        return config_;
    }

private:
    void fault(Source source, std::string text) { faults_.push_back({source, std::move(text)}); }

    void set(AnyOption& option, const RawValue& value, Origin origin) {
        const Source source = origin.source;
        if (auto reason = option.set(value, std::move(origin))) fault(source, *std::move(reason));
    }

    std::optional<std::string> file_to_read() {
        if (sources_.file) return sources_.file;
        const auto named = sources_.environment.find(std::string(config_variable));
        if (named != sources_.environment.end()) return named->second;
        for (const std::string& path : sources_.files_looked_for) {
            std::error_code ignored;
            if (std::filesystem::exists(path, ignored)) return path;
        }
        return std::nullopt;
    }

    void read_file() {
        const auto path = file_to_read();
        if (!path) return;
        config_.file = *path;
        const auto entries = read_toml_file(*path);
        if (!entries) return fault(Source::file, entries.error());
        for (const TomlEntry& entry : *entries) {
            const std::string where = *path + ':' + std::to_string(entry.line);
            if (entry.is_heading) {
                check_heading(entry.name, where);
            } else if (AnyOption* option = config_.find(entry.name)) {
                set(*option, entry.value, {Source::file, where});
            } else {
                fault(Source::file,
                      where + ": unknown key '" + entry.name + "'" + did_you_mean(entry.name, names_));
            }
        }
    }

    void check_heading(const std::string& name, const std::string& where) {
        std::vector<std::string> groups;
        for (const OptionGroup* group : config_.groups()) groups.emplace_back(group->name);
        if (std::ranges::find(groups, name) != groups.end()) return;
        fault(Source::file, where + ": unknown table [" + name + "]" + did_you_mean(name, groups));
    }

    void read_environment() {
        for (const auto& [variable, value] : sources_.environment) {
            if (!variable.starts_with(prefix) || variable == config_variable) continue;
            if (AnyOption* option = option_of(variable)) {
                set(*option, PlainText{value}, {Source::environment, variable});
            } else if (AnyOption* secret = secret_in_file_of(variable)) {
                set_from_file(*secret, variable, value);
            } else {
                fault(Source::environment,
                      "unknown environment variable '" + variable + "'" + did_you_mean(variable, variables_));
            }
        }
    }

    void set_from_file(AnyOption& option, const std::string& variable, const std::string& path) {
        const std::string direct = option.environment_name();
        if (sources_.environment.contains(direct)) {
            return fault(Source::environment,
                         direct + " and " + variable + " are both set: give one of them");
        }
        const auto secret = read_secret_file(path);
        if (!secret) {
            return fault(Source::environment, variable + ": cannot read '" + path + "': " + secret.error());
        }
        set(option, PlainText{*secret}, {Source::environment, variable});
    }

    void read_flags() {
        for (const FlagValue& flag : sources_.flags) {
            AnyOption* option = config_.find(flag.option);
            if (option == nullptr) {
                fault(Source::flag, flag.flag + ": unknown option '" + flag.option + "'" +
                                        did_you_mean(flag.option, names_));
            } else if (option->is_secret()) {
                const std::string variable = option->environment_name();
                fault(Source::flag, flag.flag + ": " + flag.option +
                                        " is a secret, and flags show in the process list: set " + variable +
                                        " or " + variable + std::string(file_suffix) + " instead");
            } else {
                set(*option, PlainText{flag.value}, {Source::flag, flag.flag});
            }
        }
    }

    AnyOption* option_of(std::string_view variable) {
        for (const std::string& name : names_) {
            AnyOption* option = config_.find(name);
            if (option->environment_name() == variable) return option;
        }
        return nullptr;
    }

    AnyOption* secret_in_file_of(std::string_view variable) {
        if (!variable.ends_with(file_suffix)) return nullptr;
        AnyOption* option = option_of(variable.substr(0, variable.size() - file_suffix.size()));
        return option != nullptr && option->is_secret() ? option : nullptr;
    }

    const ConfigSources& sources_;
    Config config_;
    std::vector<std::string> names_, variables_;
    std::vector<ConfigFault> faults_;
};

}  // namespace

Environment process_environment() {
    Environment environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const size_t equals = text.find('=');
        if (equals == text.npos || !text.starts_with(prefix)) continue;
        environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return environment;
}

Result<Config, std::vector<ConfigFault>> load_config(const ConfigSources& sources) {
    return Loading(sources).run();
}

}  // namespace doorbuster
