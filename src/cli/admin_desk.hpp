// AdminDesk: one command's conversation with the admin listener.
//
// Finds the server and its key by flags, by the configuration, or by what `doorbuster dev` left
// in its data folder. Every step that fails has been told to the person; what is returned then
// is nothing, or the exit code.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>

#include "cli/admin_client.hpp"
#include "cli/command.hpp"

namespace doorbuster {

// The configuration's where empty.
struct AdminFlags {
    std::string address, key_file;
};

// --admin, --admin-key-file, --store-path. `into` must outlive the run.
void add_admin_flags(CLI::App& command, CliRun&, AdminFlags& into);

// Above the footer of every command that talks to the admin listener.
inline constexpr std::string_view admin_footer =
    "The server is found by --admin ADDRESS and --admin-key-file FILE, by the configuration, or by\n"
    "what `doorbuster dev` left in its data folder (--store-path).\n";

class AdminDesk {
public:
    using View = std::function<std::string(const boost::json::object&)>;

    AdminDesk(CliRun& run, const AdminFlags& flags) : run_(run), flags_(flags) {}

    // Calls and prints; the view is the table. The exit code.
    int show(const AdminCall& call, const View& view);

    std::optional<AdminAnswer> ask(const AdminCall& call);

    int code() const { return code_; }

protected:
    CliRun& run() { return run_; }

private:
    std::nullopt_t give_up(std::string_view sentence);
    bool connect();
    std::optional<std::string> find_key(const Config& config);

    CliRun& run_;
    const AdminFlags& flags_;
    std::optional<AdminClient> client_;
    std::string key_from_;
    int code_ = exit_failed;
};

}  // namespace doorbuster
