#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <memory>

#include "audit/report_html.hpp"
#include "cli/audit_question.hpp"
#include "cli/audit_view.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

struct ReconcileWords {
    AdminFlags admin;
    std::string sale, folder;
    bool repair = false, history = false;
    std::vector<std::string> acknowledge;  // keys
};

bool write_file(const std::filesystem::path& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    return static_cast<bool>(file);
}

// reconciliation-SALE-RUN.json and .html. Empty, or what went wrong.
std::string write_report(const std::string& folder, const json::object& report) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return "cannot make the folder '" + folder + "': " + error.message();
    const json::value *sale = report.if_contains("sale"), *run = report.if_contains("run");
    if (sale == nullptr || !sale->is_string() || run == nullptr || !run->is_int64() ||
        !is_slug(std::string_view(sale->get_string()))) {
        return "the server's answer is not a report: is it a Doorbuster?";
    }
    const std::string name =
        "reconciliation-" + std::string(sale->get_string()) + "-" + std::to_string(run->get_int64());
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (!write_file(path.string() + ".json", json::serialize(report) + "\n") ||
        !write_file(path.string() + ".html", audit::report_html(report))) {
        return "cannot write into '" + folder + "'";
    }
    return {};
}

int reconcile(CliRun& run, const ReconcileWords& words) {
    const auto path = sale_path(run, words.sale, words.history ? "/reconciliations" : "/reconcile");
    if (!path) return exit_usage;
    if (words.history && (words.repair || !words.acknowledge.empty() || !words.folder.empty())) {
        return run.fail("--history only shows what was; it goes with none of --repair, --acknowledge, --out",
                        exit_usage);
    }
    AdminDesk desk(run, words.admin);
    if (words.history) return desk.show({.path = *path}, reconciliations_table);

    json::object wish{{"repair", words.repair}};
    if (!words.acknowledge.empty())
        wish["acknowledge"] = json::array(words.acknowledge.begin(), words.acknowledge.end());
    const auto answer =
        ask_audit(run, desk, {.path = *path, .body = json::serialize(wish)}, "a reconciliation");
    if (!answer) return desk.code();
    run.print(run.as_json() ? answer->body : reconciliation_text(answer->object));
    if (!words.folder.empty()) {
        for (const std::string_view name : {"report", "after_repair"}) {
            const json::value* report = answer->object.if_contains(name);
            if (report == nullptr || !report->is_object()) continue;
            if (const auto fault = write_report(words.folder, report->get_object()); !fault.empty())
                return run.fail(fault);
        }
    }
    return answer->exit_code();
}

}  // namespace

void add_reconcile_command(CLI::App& app, CliRun& run) {
    CLI::App* command =
        app.add_subcommand("reconcile", "Recounts a sale from its records, also while it sells");
    const auto words = std::make_shared<ReconcileWords>();
    add_admin_flags(*command, run, words->admin);
    command->add_option("SALE", words->sale, "The sale's id")->required()->option_text(" ");
    command->add_flag("--repair", words->repair,
                      "Carries out the deltas that are proposed, then counts again");
    command
        ->add_option("--acknowledge", words->acknowledge,
                     "Says that somebody has looked at this difference; it is known from then on. Repeatable")
        ->option_text("KEY")
        ->allow_extra_args(false);
    command->add_flag("--history", words->history, "Shows what earlier counts found, newest first");
    command->add_option("--out", words->folder, "Also writes the report there, as JSON and as a page")
        ->option_text("DIR");
    command->footer(
        "Exit code 0: all records agree; 4: they do not, and each difference is named with its ids, its\n"
        "key and what would mend it. A repair is a delta under a key of its own, done once and logged; a\n"
        "paid order is never taken away. What no delta can mend is left, with exit code 4, until it is\n"
        "acknowledged by its key. A stock row and units sold twice cannot be acknowledged.\n" +
        std::string(admin_footer) +
        help_footer("  doorbuster reconcile phone-drop\n"
                    "  doorbuster reconcile phone-drop --repair --out reports\n"
                    "  doorbuster reconcile phone-drop --acknowledge sequence_gap:phone-drop:phone:…\n"
                    "  doorbuster reconcile phone-drop --history\n"));
    command->callback([&run, words] { run.chosen = [&run, words] { return reconcile(run, *words); }; });
}

}  // namespace doorbuster
