#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/admin_desk.hpp"
#include "cli/table.hpp"
#include "page/published.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct PublishWords {
    AdminFlags admin;
    std::string sale, folder, api_origin;
};

// It goes into a header and into the page's data, so it must be an origin and nothing else.
bool is_origin(std::string_view text) {
    const size_t host = text.find("://");
    if (host == text.npos || (text.substr(0, host) != "https" && text.substr(0, host) != "http"))
        return false;
    const std::string_view rest = text.substr(host + 3);
    return !rest.empty() && std::ranges::all_of(rest, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' ||
               c == '[' || c == ']';
    });
}

// Whole or not at all: whoever serves the folder meanwhile never reads half a page.
// Empty, or what went wrong.
std::string write_whole(const fs::path& path, std::string_view bytes) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
        return fmt::format("cannot make the folder '{}': {}", path.parent_path().string(), error.message());
    const std::string draft = path.string() + ".new";
    const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return fmt::format("cannot write '{}': {}", draft, std::strerror(errno));
    int why = 0;
    while (!bytes.empty() && why == 0) {
        const ssize_t count = ::write(file, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<size_t>(count));
        } else if (errno != EINTR) {
            why = errno;
        }
    }
    if (why == 0 && ::fsync(file) != 0) why = errno;
    if (::close(file) != 0 && why == 0) why = errno;
    if (why == 0 && std::rename(draft.c_str(), path.c_str()) != 0) why = errno;
    if (why == 0) return {};
    ::unlink(draft.c_str());
    return fmt::format("cannot write '{}': {}", path.string(), std::strerror(why));
}

// The sale as the public sees it, from how the operator sees it. Sold out comes and goes with the
// last unit, so a page that is kept for a while is that of an open sale.
json::object public_sale(json::object sale) {
    sale.erase("version");
    if (sale["state"] == "sold_out") sale["state"] = "open";
    return sale;
}

std::string files_text(const std::vector<PublishedFile>& files) {
    Table table({"FILE", "BYTES"});
    for (const PublishedFile& file : files) table.add({file.path, std::to_string(file.bytes.size())});
    return table.text();
}

int publish(CliRun& run, const PublishWords& words) {
    if (!is_slug(words.sale)) {
        return run.fail(
            "'" + words.sale + "' is not a sale's id: lower-case letters, digits and inner hyphens",
            exit_usage);
    }
    if (!words.api_origin.empty() && !is_origin(words.api_origin)) {
        return run.fail(
            "'" + words.api_origin +
                "' is not an origin: scheme, host and perhaps a port, in lower case and without a "
                "path, such as https://api.shop.example",
            exit_usage);
    }
    const LoadedConfig loaded = load_for(run, Role::client);
    if (!loaded.config) return loaded.exit_code;
    AdminDesk desk(run, words.admin);
    const auto answer = desk.ask({.path = "/v1/sales/" + words.sale});
    if (!answer) return desk.code();
    boost::system::error_code error;
    const json::value parsed = json::parse(answer->body, error);
    if (error || !parsed.is_object() || !parsed.get_object().contains("items"))
        return run.fail("the server's answer is not a sale: is it a Doorbuster?");
    const json::object sale = public_sale(parsed.get_object());
    if (sale.at("state") == "draft") {
        return run.fail("the sale is a draft, which nobody may see yet: doorbuster sale schedule " +
                        words.sale);
    }

    const PageOptions& page = loaded.config->page;
    const PageMaker maker({.api_origin = words.api_origin,
                           .cooldown_ms = page.cooldown_ms,
                           .cache = std::chrono::seconds(page.cache_s.value()),
                           .stale = std::chrono::seconds(page.stale_s.value())});
    const std::string text = json::serialize(sale);
    SaleOnPage on_page{.title = sale.at("title").as_string(), .items = {}, .json = text};
    for (const json::value& item : sale.at("items").as_array())
        on_page.items.push_back(item.at("name").as_string());
    const std::vector<PublishedFile> files = published_files(maker, words.sale, on_page);
    for (const PublishedFile& file : files) {
        if (const std::string fault = write_whole(fs::path(words.folder) / file.path, file.bytes);
            !fault.empty()) {
            return run.fail(fault);
        }
    }
    if (!run.as_json()) {
        run.print(files_text(files));
        return exit_ok;
    }
    json::array listed;
    for (const PublishedFile& file : files)
        listed.push_back({{"path", file.path}, {"bytes", file.bytes.size()}});
    run.print(json::serialize(json::object{{"folder", words.folder}, {"files", std::move(listed)}}));
    return exit_ok;
}

}  // namespace

void add_publish_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand(
        "publish", "Writes a sale's page and those around it as files, for a CDN or nginx");
    const auto words = std::make_shared<PublishWords>();
    add_admin_flags(*command, run, words->admin);
    command->add_option("SALE", words->sale, "The sale's id")->required()->option_text(" ");
    command->add_option("--out", words->folder, "The folder to write into; it is made if need be")
        ->required()
        ->option_text("DIR");
    command
        ->add_option("--api-origin", words->api_origin,
                     "Where the pages reach this server, if not where they are themselves")
        ->option_text("URL");
    command->footer(
        "Each page is one file, with .br and .gz beside it. The headers that go with them are in _headers\n"
        "(Cloudflare Pages, Netlify) and in nginx.conf, to be included in a server block. Pages on another\n"
        "origin than the server's may call it if server.origins names that origin. Publish again after a\n"
        "change of the sale; a page that is older still counts down and buys rightly.\n" +
        std::string(admin_footer) +
        help_footer("  doorbuster publish phone-drop --out site\n"
                    "  doorbuster publish phone-drop --out site --api-origin https://api.shop.example\n"));
    command->callback([&run, words] { run.chosen = [&run, words] { return publish(run, *words); }; });
}

}  // namespace doorbuster
