// doorbuster-load: a crowd of buyers, each with a purchase of its own, over HTTP.
//
//   doorbuster-load --target=127.0.0.1:8080 --sale=phone-drop --item=phone --secret-file=FILE
//
//   doorbuster-load --target=127.0.0.1:8080 --page=/sales/phone-drop
//
// By itself it sends the next purchase when an answer has come. With --schedule=RATE:SECONDS,…
// purchases leave when they are due, whatever the server does, and a report in JSON is printed.
//
// The secret is the one that the server checks buyers' tokens with (identity.hmac_secret);
// without --secret-file it is DOORBUSTER_IDENTITY__HMAC_SECRET of the environment.
// Exit 0 if every request was answered, 1 if not, 2 for a wrong call.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/crypto.hpp"
#include "load/drive.hpp"
#include "load/open_drive.hpp"
#include "load/open_report.hpp"

namespace doorbuster::load {
namespace {

constexpr size_t requests_max = 4'000'000;  // about 2.4 GB of bytes made beforehand

struct Wanted {
    std::string target = "127.0.0.1:8080", host, sale, item, secret_file, buyers, schedule;
    std::string page, accept_encoding = "gzip, deflate, br";
    size_t connections = 64, requests = 100'000, sent_max = requests_max;
    int64_t seconds = 60, patience_ms = 1000;
    bool as_json = false;
};

std::optional<std::string> secret_of(const Wanted& wanted) {
    if (wanted.secret_file.empty()) {
        const char* secret = std::getenv("DOORBUSTER_IDENTITY__HMAC_SECRET");
        if (secret == nullptr) return std::nullopt;
        return secret;
    }
    std::ifstream file(wanted.secret_file);
    if (!file) return std::nullopt;
    std::string secret(std::istreambuf_iterator<char>(file), {});
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
    return secret;
}

std::optional<Target> read_target(const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    Target target{.host = text.substr(0, colon)};
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, target.port);
    if (error != std::errc{} || last != end || target.port == 0) return std::nullopt;
    return target;
}

void print_json(const Wanted& wanted, const Tally& tally) {
    std::string statuses;
    for (size_t status = 0; status < tally.by_status.size(); ++status) {
        if (tally.by_status[status] == 0) continue;
        statuses += fmt::format("{}\"{}\":{}", statuses.empty() ? "" : ",", status, tally.by_status[status]);
    }
    fmt::print(
        R"({{"requests":{},"connections":{},"answers":{},"lost":{},"not_sent":{},"status":{{{}}},"elapsed_s":{:.3f},"cpu_s":{:.3f}}})"
        "\n",
        wanted.requests, wanted.connections, tally.answers, tally.lost, tally.not_sent, statuses,
        std::chrono::duration<double>(tally.elapsed).count(),
        std::chrono::duration<double>(tally.cpu).count());
}

void print_text(const Tally& tally) {
    const double elapsed_s = std::chrono::duration<double>(tally.elapsed).count();
    const double answers = static_cast<double>(tally.answers);
    fmt::print("{} answers in {:.2f} s, {:.0f} a second; the generator took {:.1f} us of CPU each\n",
               tally.answers, elapsed_s, answers / elapsed_s,
               std::chrono::duration<double, std::micro>(tally.cpu).count() / (answers > 0 ? answers : 1));
    for (size_t status = 0; status < tally.by_status.size(); ++status) {
        if (tally.by_status[status] > 0) fmt::print("  {}  {}\n", status, tally.by_status[status]);
    }
    if (tally.lost > 0) fmt::print("  {} lost: sent, and no answer came\n", tally.lost);
    if (tally.not_sent > 0) fmt::print("  {} not sent: the time was up\n", tally.not_sent);
}

int complain(const std::string& what, int exit_code) {
    fmt::print(stderr, "doorbuster-load: {}\n", what);
    return exit_code;
}

Requests requests_of(const Wanted& wanted, const std::string& secret, size_t count) {
    return Requests(
        {.host = wanted.host.empty() ? wanted.target : wanted.host,
         .sale = wanted.sale,
         .item = wanted.item,
         .secret = secret,
         .buyers = wanted.buyers.empty() ? "buyer-" + random_secret(6) : wanted.buyers,
         .now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now())},
        count);
}

int run_closed(const Wanted& wanted, const Target& target, const Requests& requests) {
    const Tally tally = drive(requests, {.target = target,
                                         .connections = wanted.connections,
                                         .time_max = std::chrono::seconds(wanted.seconds)});
    wanted.as_json ? print_json(wanted, tally) : print_text(tally);
    return tally.answers == wanted.requests ? 0 : 1;
}

int run_open(const Wanted& wanted, const Target& target, const std::string& secret) {
    const auto phases = Schedule::parse(wanted.schedule);
    if (!phases) return complain("--schedule is RATE:SECONDS, or several of them with commas", 2);
    const Schedule schedule(*phases);
    if (schedule.size() == 0 || schedule.size() > requests_max) {
        return complain(fmt::format("--schedule must come to 1 to {} purchases", requests_max), 2);
    }
    const size_t count = std::min(schedule.size(), wanted.sent_max);
    const OpenTally tally = open_drive(requests_of(wanted, secret, count), schedule,
                                       {.target = target,
                                        .connections = wanted.connections,
                                        .patience = std::chrono::milliseconds(wanted.patience_ms)});
    fmt::print("{}\n", open_report(*phases, schedule, tally));
    return 0;
}

int run_page(const Wanted& wanted, const Target& target) {
    if (!wanted.schedule.empty())
        return complain("--page is asked for when an answer has come: no --schedule", 2);
    try {
        return run_closed(wanted, target,
                          Requests(PageRequest{.host = wanted.host.empty() ? wanted.target : wanted.host,
                                               .path = wanted.page,
                                               .accept_encoding = wanted.accept_encoding},
                                   wanted.requests));
    } catch (const std::runtime_error& error) {
        return complain(error.what(), 1);
    }
}

int run(const Wanted& wanted) {
    const auto target = read_target(wanted.target);
    if (!target) return complain("--target is an IPv4 address and a port", 2);
    if (!wanted.page.empty()) return run_page(wanted, *target);
    if (wanted.sale.empty() || wanted.item.empty()) return complain("purchases need --sale and --item", 2);
    const auto secret = secret_of(wanted);
    if (!secret || secret->empty()) {
        return complain("no secret: give --secret-file, or DOORBUSTER_IDENTITY__HMAC_SECRET", 2);
    }
    try {
        return wanted.schedule.empty()
                   ? run_closed(wanted, *target, requests_of(wanted, *secret, wanted.requests))
                   : run_open(wanted, *target, *secret);
    } catch (const std::runtime_error& error) {
        return complain(error.what(), 1);
    }
}

}  // namespace
}  // namespace doorbuster::load

int main(int argc, char** argv) {
    doorbuster::load::Wanted wanted;
    CLI::App app("A crowd of buyers, each with a purchase of its own, over HTTP");
    app.add_option("--target", wanted.target, "The server, as an IPv4 address and a port")
        ->capture_default_str();
    app.add_option("--host", wanted.host, "What the Host header says (default: the target)");
    app.add_option("--sale", wanted.sale, "The sale's id");
    app.add_option("--item", wanted.item, "The item's id");
    app.add_option("--page", wanted.page, "Ask for this page instead of buying");
    app.add_option("--accept-encoding", wanted.accept_encoding, "With --page: what the header says")
        ->capture_default_str();
    app.add_option("--secret-file", wanted.secret_file, "The file that holds identity.hmac_secret");
    app.add_option("--buyers", wanted.buyers, "How the buyers' names begin (default: never the same twice)")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return text.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
                                   std::string::npos &&
                               text.size() <= 32
                           ? std::string{}
                           : std::string("at most 32 letters, digits, hyphens and underscores");
            },
            "NAME"));
    app.add_option("--connections", wanted.connections, "Connections open at once")
        ->check(CLI::Range(1, 20'000))
        ->capture_default_str();
    app.add_option("--requests", wanted.requests, "Purchases to send, each by a buyer of its own")
        ->check(CLI::Range(size_t{1}, doorbuster::load::requests_max))
        ->capture_default_str();
    app.add_option("--seconds", wanted.seconds, "Stop after so long")
        ->check(CLI::Range(1, 3600))
        ->capture_default_str();
    app.add_option(
        "--schedule", wanted.schedule,
        "Send when due, not when answered: RATE:SECONDS,… (then --requests and --seconds say nothing)");
    app.add_option("--patience-ms", wanted.patience_ms,
                   "With --schedule: how long a buyer waits for a free connection before leaving")
        ->check(CLI::Range(1, 60'000))
        ->capture_default_str();
    app.add_option("--sent-max", wanted.sent_max,
                   "With --schedule: how many purchases to make ready where most of the crowd leaves "
                   "unserved; it fails "
                   "if more get a turn")
        ->check(CLI::Range(size_t{1}, doorbuster::load::requests_max));
    app.add_flag("--json", wanted.as_json, "Print the result as JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return doorbuster::load::run(wanted);
}
