#include <CLI/CLI.hpp>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <iterator>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/sale_rebuild.hpp"
#include "cli/sale_view.hpp"
#include "config/text_file.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

constexpr size_t sale_file_bytes_max = 64 << 20;

struct SaleWords {
    AdminFlags admin;
    std::string file, sale, item;
    uint32_t units = 0;
    std::string reason;
    bool wait = false;
};

using Words = std::shared_ptr<SaleWords>;
using View = AdminDesk::View;

// A conversation about one sale.
class Desk : public AdminDesk {
public:
    Desk(CliRun& run, const SaleWords& words) : AdminDesk(run, words.admin), words_(words) {}

    // "/v1/sales/ID" + rest; nothing for a name that no sale can have.
    std::optional<std::string> path(std::string_view rest = "") {
        if (is_slug(words_.sale)) return "/v1/sales/" + words_.sale + std::string(rest);
        run().fail("'" + words_.sale + "' is not a sale's id: lower-case letters, digits and inner hyphens",
                   exit_usage);
        return std::nullopt;
    }

private:
    const SaleWords& words_;
};

int create(CliRun& run, const SaleWords& words) {
    std::string body;
    if (words.file == "-") {
        body.assign(std::istreambuf_iterator<char>(run.world.in), {});
    } else {
        auto read = read_text_file(words.file, sale_file_bytes_max);
        if (!read) return run.fail("cannot read '" + words.file + "': " + read.error());
        body = *std::move(read);
    }
    boost::system::error_code error;
    json::parse(body, error);
    const std::string name = words.file == "-" ? "standard input" : "'" + words.file + "'";
    if (error) return run.fail(name + " is not JSON: " + error.message());
    return Desk(run, words).show({.method = "POST", .path = "/v1/sales", .body = body}, sale_sentence);
}

int show_path(CliRun& run, const SaleWords& words, std::string_view rest, const View& view) {
    Desk desk(run, words);
    const auto path = desk.path(rest);
    return path ? desk.show({.path = *path}, view) : exit_usage;
}

int change(CliRun& run, const SaleWords& words, const std::string& verb) {
    Desk desk(run, words);
    const auto path = desk.path("/" + verb);
    return path ? desk.show({.method = "POST", .path = *path}, sale_sentence) : exit_usage;
}

// A sale that a check keeps warming is told with what holds it.
int warm(CliRun& run, const SaleWords& words) {
    Desk desk(run, words);
    const auto path = desk.path("/warm");
    if (!path) return exit_usage;
    bool is_held = false;
    const int code = desk.show({.method = "POST", .path = *path}, [&](const json::object& sale) {
        const json::value* state = sale.if_contains("state");
        is_held = state != nullptr && *state == "warming";
        return sale_sentence(sale);
    });
    if (!is_held) return code;
    return desk.show({.path = *desk.path("/status")}, [](const json::object& status) {
        const std::string text = warm_up_text(status);
        return text.empty() ? "it is being warmed up: `doorbuster sale status` tells how far it is" : text;
    });
}

int rebuild(CliRun& run, const SaleWords& words) {
    Desk desk(run, words);
    const auto path = desk.path("/rebuild");
    if (!path) return exit_usage;
    return rebuild_books(run, desk, *path, {.item = words.item, .reason = words.reason, .wait = words.wait});
}

// `call.path` goes on from the sale's own. Bound to the version just seen: of two operators
// who change a sale at once, one is told to look again.
int change_as_seen(CliRun& run, const SaleWords& words, AdminCall call, const View& view) {
    Desk desk(run, words);
    const auto path = desk.path();
    if (!path) return exit_usage;
    const auto seen = desk.ask({.path = *path});
    if (!seen) return desk.code();
    call.path.insert(0, *path);
    call.if_match = seen->etag;
    return desk.show(call, view);
}

int schedule(CliRun& run, const SaleWords& words) {
    return change_as_seen(run, words, {.method = "PATCH", .path = "", .body = R"({"state":"scheduled"})"},
                          sale_sentence);
}

int restock(CliRun& run, const SaleWords& words) {
    const json::value body{{"item", words.item}, {"units", words.units}};
    return change_as_seen(run, words, {.method = "POST", .path = "/restock", .body = json::serialize(body)},
                          [&](const json::object& sale) { return restock_sentence(sale, words.item); });
}

class SaleCommands {
public:
    SaleCommands(CLI::App& sale, CliRun& run) : sale_(sale), run_(run) {
        add_admin_flags(sale_, run_, words_->admin);
    }

    template <class F>
    CLI::App* add(const std::string& name, const std::string& text, const std::string& example, F act) {
        CLI::App* command = sale_.add_subcommand(name, text);
        command->footer(std::string(admin_footer) + help_footer("  doorbuster sale " + example + "\n"));
        command->callback([&run = run_, words = words_, act] {
            run.chosen = [&run, words, act] { return act(run, *words); };
        });
        return command;
    }

    template <class F>
    CLI::App* add_for_sale(const std::string& name, const std::string& text, const std::string& example,
                           F act) {
        CLI::App* command = add(name, text, example, act);
        command->add_option("SALE", words_->sale, "The sale's id")->required()->option_text(" ");
        return command;
    }

    SaleWords& words() { return *words_; }

private:
    CLI::App& sale_;
    CliRun& run_;
    const Words words_ = std::make_shared<SaleWords>();
};

struct Verb {
    std::string name, text;
};

}  // namespace

void add_sale_command(CLI::App& app, CliRun& run) {
    CLI::App* sale =
        app.add_subcommand("sale", "Creates, watches and steers sales, through the admin listener");
    sale->require_subcommand(1);
    sale->footer(
        help_footer("  doorbuster sale create phone-drop.json\n"
                    "  doorbuster sale warm phone-drop\n"
                    "  doorbuster sale status phone-drop -o json\n"));
    SaleCommands commands(*sale, run);

    commands
        .add("create", "Creates a sale from a JSON file, or - for standard input", "create phone-drop.json",
             create)
        ->add_option("FILE", commands.words().file, "The sale as JSON; - reads standard input")
        ->required()
        ->option_text(" ");
    commands.add("list", "Lists all sales", "list -o json", [](CliRun& in, const SaleWords& words) {
        return Desk(in, words).show({.path = "/v1/sales"}, sale_list_table);
    });
    commands.add_for_sale(
        "show", "Shows a sale and its items", "show phone-drop",
        [](CliRun& in, const SaleWords& words) { return show_path(in, words, "", sale_table); });
    commands.add_for_sale(
        "status", "Shows a sale's live figures", "status phone-drop",
        [](CliRun& in, const SaleWords& words) { return show_path(in, words, "/status", status_table); });
    commands.add_for_sale("schedule", "Schedules a draft; from then on its times count",
                          "schedule phone-drop", schedule);
    commands.add_for_sale("warm", "Warms a scheduled sale up, so that it can open, or says what holds it",
                          "warm phone-drop", warm);
    const std::array<Verb, 4> verbs{{{"open", "Opens a warm sale now"},
                                     {"pause", "Pauses an open sale; buyers hear `paused`"},
                                     {"resume", "Resumes a paused sale"},
                                     {"close", "Closes a sale for good; purchases accepted before stand"}}};
    for (const Verb& verb : verbs) {
        commands.add_for_sale(
            verb.name, verb.text, verb.name + " phone-drop",
            [name = verb.name](CliRun& in, const SaleWords& words) { return change(in, words, name); });
    }
    CLI::App* restock_command = commands.add_for_sale("restock", "Adds units to an item, also while it sells",
                                                      "restock phone-drop phone 200", restock);
    restock_command->add_option("ITEM", commands.words().item, "The item's id")->required()->option_text(" ");
    restock_command->add_option("UNITS", commands.words().units, "How many units to add")
        ->required()
        ->option_text(" ")
        ->check(CLI::Range(1u, 100'000'000u));
    CLI::App* rebuild_command = commands.add_for_sale(
        "rebuild", "Has the books in Redis loaded anew from PostgreSQL; buyers hear `rebuilding` meanwhile",
        "rebuild phone-drop phone --wait", rebuild);
    rebuild_command->add_option("ITEM", commands.words().item, "The item's id; without one all of the sale's")
        ->option_text(" ");
    rebuild_command->add_option("--reason", commands.words().reason, "Why, for the log")->option_text("TEXT");
    rebuild_command->add_flag("--wait", commands.words().wait, "Waits until they are open again");
}

}  // namespace doorbuster
