#include "cli/admin_desk.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include "cli/problem_text.hpp"
#include "config/text_file.hpp"

namespace doorbuster {

void add_admin_flags(CLI::App& command, CliRun& run, AdminFlags& into) {
    command.add_option("--admin", into.address, "The admin listener, host:port or URL (admin.listen)")
        ->option_text("ADDRESS");
    command
        .add_option("--admin-key-file", into.key_file,
                    "A file with the admin key (admin.key, DOORBUSTER_ADMIN__KEY)")
        ->option_text("FILE");
    add_store_path_flag(command, run);
}

int AdminDesk::show(const AdminCall& call, const View& view) {
    const auto answer = ask(call);
    if (!answer) return code_;
    boost::system::error_code error;
    const boost::json::value parsed = boost::json::parse(answer->body, error);
    if (error || !parsed.is_object()) {
        return run_.fail("the server's answer is not JSON: is it a Doorbuster?");
    }
    run_.print(run_.as_json() ? answer->body : view(parsed.get_object()));
    return exit_ok;
}

std::optional<AdminAnswer> AdminDesk::ask(const AdminCall& call) {
    if (!client_ && !connect()) return std::nullopt;
    auto answer = client_->call(call);
    if (!answer) return give_up(answer.error());
    if (answer->status == 401) {
        return give_up("the admin key is not this server's (401); it came from " + key_from_);
    }
    if (!answer->is_ok()) return give_up(problem_text(answer->status, answer->body));
    return *std::move(answer);
}

std::nullopt_t AdminDesk::give_up(std::string_view sentence) {
    code_ = run_.fail(sentence);
    return std::nullopt;
}

bool AdminDesk::connect() {
    const LoadedConfig loaded = load_for(run_, Role::client);
    if (!loaded.config) {
        code_ = loaded.exit_code;
        return false;
    }
    const auto server =
        parse_admin_address(flags_.address.empty() ? loaded.config->admin.listen.value() : flags_.address);
    if (!server) {
        give_up(server.error());
        code_ = flags_.address.empty() ? exit_failed : exit_usage;
        return false;
    }
    const auto key = find_key(*loaded.config);
    if (!key) return false;
    client_.emplace(*server, *key);
    return true;
}

std::optional<std::string> AdminDesk::find_key(const Config& config) {
    if (flags_.key_file.empty()) {
        if (config.admin.key.value().empty()) {
            return give_up(missing_secret_text(config, config.admin.key) + ", or --admin-key-file FILE");
        }
        key_from_ = config.admin.key.origin().where;
        return config.admin.key.value();
    }
    key_from_ = "--admin-key-file " + flags_.key_file;
    auto key = read_secret_file(flags_.key_file);
    if (!key) return give_up(key_from_ + ": " + key.error());
    if (key->empty() || header_secret_rule.fault(*key)) {
        return give_up(key_from_ + ": a key is visible ASCII characters without spaces, on one line");
    }
    return *std::move(key);
}

}  // namespace doorbuster
