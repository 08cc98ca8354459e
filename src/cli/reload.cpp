#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/table.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

std::string names_in(const json::object& answer, std::string_view key) {
    std::string names;
    const json::value* found = answer.if_contains(key);
    if (found == nullptr || !found->is_array()) return names;
    for (const json::value& name : found->get_array()) {
        if (name.is_string()) names += "\n  " + printable(std::string_view(name.get_string()));
    }
    return names;
}

std::string reload_text(const json::object& answer) {
    const std::string changed = names_in(answer, "changed"), waiting = names_in(answer, "needs_restart");
    if (changed.empty() && waiting.empty()) return "nothing has changed";
    std::string text;
    if (!changed.empty()) text += "in effect now:" + changed + '\n';
    if (!waiting.empty()) text += "changed, but needs a restart:" + waiting + '\n';
    return text;
}

}  // namespace

void add_reload_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand("reload", "Lets the running server read its configuration again");
    const auto flags = std::make_shared<AdminFlags>();
    add_admin_flags(*command, run, *flags);
    command->footer(
        "Options marked Live take effect; others are named and wait for a restart. A configuration\n"
        "with faults changes nothing, and all of them are told. SIGHUP does the same.\n" +
        std::string(admin_footer) + help_footer("  doorbuster reload\n"));
    command->callback([&run, flags] {
        run.chosen = [&run, flags] {
            return AdminDesk(run, *flags).show({.method = "POST", .path = "/v1/reload"}, reload_text);
        };
    });
}

}  // namespace doorbuster
