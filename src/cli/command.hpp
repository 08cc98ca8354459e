// What the commands share: one run of the program, and how a command adds itself to it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.hpp"

namespace CLI {
class App;
}

namespace doorbuster {

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_differs = 4;  // it ran, and what it compared does not agree

struct CliRun {
    CliWorld& world;
    const CliHooks& hooks;

    // Flags that every command takes.
    std::string output = "table";
    std::string config_file{};
    std::vector<std::string> settings{};  // --set KEY=VALUE

    std::vector<FlagValue> flags{};  // --listen and its like, by the option they set
    std::function<int()> chosen{};   // what the parsed words ask for

    bool as_json() const { return output == "json"; }
    void print(std::string_view text);
    int fail(std::string_view sentence, int code = exit_failed);
};

// Each adds one command with its flags, help and examples.
void add_serve_command(CLI::App&, CliRun&);
void add_dev_command(CLI::App&, CliRun&);
void add_sale_command(CLI::App&, CliRun&);
void add_publish_command(CLI::App&, CliRun&);
void add_order_command(CLI::App&, CliRun&);
void add_letters_command(CLI::App&, CliRun&);
void add_reconcile_command(CLI::App&, CliRun&);
void add_replay_command(CLI::App&, CliRun&);
void add_level_command(CLI::App&, CliRun&);
void add_lists_command(CLI::App&, CliRun&);
void add_reload_command(CLI::App&, CliRun&);
void add_buyer_token_command(CLI::App&, CliRun&);
void add_webhooks_command(CLI::App&, CliRun&);
void add_listen_command(CLI::App&, CliRun&);
void add_sandbox_pay_command(CLI::App&, CliRun&);
void add_config_command(CLI::App&, CliRun&);
void add_version_command(CLI::App&, CliRun&);

// For a check() of CLI11: empty if the text is digits alone, as ids and positions are, or what is wrong with
// it.
std::string fault_of_number(const std::string& text);

// --listen, --admin-listen, --threads, --backend, --store-path.
void add_server_flags(CLI::App&, CliRun&);

// --store-path: where a client looks for the keys of `doorbuster dev`.
void add_store_path_flag(CLI::App&, CliRun&);

// "Examples:" and the flags that every command takes, below a command's help.
std::string help_footer(std::string_view examples);

// Whose configuration is wanted. A client finds what `doorbuster dev` left in store.path, so
// that a second terminal needs no set-up; a server never starts on generated keys by chance.
enum class Role { server, client };

struct LoadedConfig {
    std::optional<Config> config;
    int exit_code = exit_ok;  // where there is none; the faults have been told
};
LoadedConfig load_for(CliRun&, Role);

// False if a server must not start with this configuration; the faults have been told.
bool may_serve(CliRun&, const Config&);

// How a running server reads its configuration again: from the same sources, judged as at
// the start. `fill_in` adds what no source gives; it may be empty.
Reloader::Read read_again(CliRun&, std::function<Result<void, std::string>(Config&)> fill_in);

// For a client whose secret is missing: what is missing, and where it was looked for.
std::string missing_secret_text(const Config&, const Option<std::string>& secret);

}  // namespace doorbuster
