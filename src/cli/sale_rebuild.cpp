#include "cli/sale_rebuild.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <thread>

#include "cli/sale_view.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

constexpr std::chrono::seconds wait_max{120};  // leases, records and a load: seconds, as a rule
constexpr std::chrono::milliseconds look_again{250};

struct BookNow {
    int64_t epoch = 0;
    bool is_open = false;
};
using Books = std::map<std::string, BookNow, std::less<>>;  // by item

// Nothing where the answer is none of a rebuild's.
std::optional<Books> books_in(const json::value& answer) {
    const json::object* object = answer.if_object();
    const json::value* items = object == nullptr ? nullptr : object->if_contains("items");
    if (items == nullptr || !items->is_array()) return std::nullopt;
    Books books;
    for (const json::value& item : items->get_array()) {
        const json::object* one = item.if_object();
        if (one == nullptr) return std::nullopt;
        const json::value *id = one->if_contains("id"), *epoch = one->if_contains("epoch"),
                          *state = one->if_contains("state");
        if (id == nullptr || !id->is_string() || epoch == nullptr || !epoch->is_int64() || state == nullptr)
            return std::nullopt;
        books[std::string(id->get_string())] = {epoch->get_int64(), *state == "open"};
    }
    return books;
}

bool are_rebuilt(const Books& asked, const Books& now) {
    return std::ranges::all_of(asked, [&](const auto& one) {
        const auto found = now.find(one.first);
        return found != now.end() && found->second.is_open && found->second.epoch > one.second.epoch;
    });
}

json::value parsed(const AdminAnswer& answer) {
    boost::system::error_code error;
    json::value value = json::parse(answer.body, error);
    return error ? json::value() : value;
}

}  // namespace

int rebuild_books(CliRun& run, AdminDesk& desk, const std::string& path, const RebuildWish& wish) {
    json::object body;
    if (!wish.item.empty()) body["item"] = wish.item;
    if (!wish.reason.empty()) body["reason"] = wish.reason;
    auto answer = desk.ask({.method = "POST", .path = path, .body = json::serialize(body)});
    if (!answer) return desk.code();
    constexpr std::string_view no_rebuild = "the server's answer is not a rebuild: is it a Doorbuster?";
    const auto asked = books_in(parsed(*answer));
    if (!asked) return run.fail(no_rebuild);
    if (!wish.wait) {
        run.print(run.as_json() ? answer->body : rebuild_text(parsed(*answer).as_object()));
        return exit_ok;
    }

    const auto deadline = std::chrono::steady_clock::now() + wait_max;
    for (;;) {
        answer = desk.ask({.path = path});
        if (!answer) return desk.code();
        const auto now = books_in(parsed(*answer));
        if (!now) return run.fail(no_rebuild);
        if (are_rebuilt(*asked, *now)) break;
        if (std::chrono::steady_clock::now() > deadline) {
            return run.fail(
                "it is asked for, but not done after " + std::to_string(wait_max.count()) +
                " s: the log of the servers says what it waits for, a store or the order workers");
        }
        std::this_thread::sleep_for(look_again);
    }
    run.print(run.as_json() ? answer->body : rebuild_text(parsed(*answer).as_object()));
    return exit_ok;
}

}  // namespace doorbuster
