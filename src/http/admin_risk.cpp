#include "http/admin_risk.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "funnel/level_setting.hpp"
#include "http/admin_problem.hpp"
#include "http/json.hpp"
#include "http/json_body.hpp"
#include "http/list_path.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

std::string level_body(const LevelSwitch::State& state) {
    json::object body{{"level", name_of(state.level)},
                      {"set_by", name_of(state.set_by)},
                      {"operator", state.asked.text()},
                      {"detector", name_of(state.detected)}};
    put_instant(body, "since", state.since);
    return json::serialize(body);
}

json::object entry_json(const ListEntry& entry) {
    return {{"list", entry.list()}, {"kind", entry.kind()}, {"value", as_utf8(entry.value())}};
}

json::array as_array(const std::vector<std::string>& texts) {
    json::array array;
    for (const std::string& text : texts) array.emplace_back(as_utf8(text));
    return array;
}

}  // namespace

Result<OperatorLevel, std::vector<Fault>> read_level(const json::value& body) {
    std::vector<Fault> faults;
    std::optional<OperatorLevel> level;
    const json::object* object = body.if_object();
    if (object == nullptr) return std::vector<Fault>{{"", "must be an object"}};
    for (const auto& field : *object) {
        if (field.key() != "level") {
            faults.push_back({pointer_step(std::string_view(field.key())), "is not a field of a level"});
        } else if (field.value().is_string()) {
            level = OperatorLevel::from(std::string_view(field.value().get_string()));
        }
    }
    if (!level) faults.push_back({"/level", "must be auto, normal, no_browse, purchase_only or closed"});
    if (!faults.empty()) return faults;
    return *level;
}

bool AdminRisk::handle(Exchange& exchange) {
    const Request& request = exchange.request();
    const bool is_read_call = is_read(request.method);
    if (request.path == "/v1/level") {
        handle_level(exchange);
    } else if (request.path == lists_path) {
        if (is_read_call) {
            show_lists(exchange);
        } else {
            replies_.refuse_method(exchange, "GET, HEAD");
        }
    } else if (request.path.starts_with("/v1/lists/")) {
        change_list(exchange);
    } else if (request.path == "/v1/reload") {
        if (request.method == Method::post) {
            reload(exchange);
        } else {
            replies_.refuse_method(exchange, "POST");
        }
    } else {
        return false;
    }
    return true;
}

void AdminRisk::handle_level(Exchange& exchange) {
    if (is_read(exchange.request().method)) {
        return replies_.send(exchange, Answer{.body = level_body(risk_.level.state())});
    }
    if (exchange.request().method == Method::put) return set_level(exchange);
    replies_.refuse_method(exchange, "GET, HEAD, PUT");
}

void AdminRisk::set_level(Exchange& exchange) {
    const auto body = read_json_body(replies_, exchange);
    if (!body) return;
    auto level = read_level(*body);
    if (!level) return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(level.error())});
    const Instant now = services_.clock.now();
    replies_.on_orders_thread(exchange, [this, &exchange, to = *level, now] {
        const auto changed = change_level(risk_.settings, risk_.level, to, now);
        if (!changed) return replies_.later(exchange, admin_problem(changed.error()));
        replies_.later(exchange, Answer{.body = level_body(risk_.level.state())});
    });
}

void AdminRisk::show_lists(Exchange& exchange) {
    replies_.on_orders_thread(exchange, [this, &exchange] {
        json::array entries;
        risk_.lists.each([&](const RiskDesk::Listed& listed) {
            json::object entry = entry_json(listed.entry);
            entry["from"] = listed.from_file ? "file" : "operator";
            entries.push_back(std::move(entry));
        });
        replies_.later(exchange,
                       Answer{.body = json::serialize(json::object{{"entries", std::move(entries)}})});
    });
}

void AdminRisk::change_list(Exchange& exchange) {
    const Method method = exchange.request().method;
    auto entry = entry_in(exchange.request().path);
    if (!entry) return replies_.refuse(exchange, entry.error());
    if (method != Method::put && method != Method::del)
        return replies_.refuse_method(exchange, "PUT, DELETE");
    replies_.on_orders_thread(exchange, [this, &exchange, method, entry = *std::move(entry)] {
        RiskDesk::Done done = [this, &exchange,
                               body = json::serialize(entry_json(entry))](const StoreResult<void>& result) {
            if (!result) return replies_.later(exchange, admin_problem(result.error()));
            replies_.later(exchange, Answer{.body = body});
        };
        if (method == Method::put) return risk_.lists.put(entry, std::move(done));
        risk_.lists.remove(entry, std::move(done));
    });
}

void AdminRisk::reload(Exchange& exchange) {
    risk_.reload([this, &exchange](const ReloadReport& report) {
        if (!report.faults.empty()) {
            Problem problem{.code = Code::invalid, .detail = "nothing was changed"};
            for (const std::string& fault : report.faults) problem.faults.push_back({"", as_utf8(fault)});
            return replies_.later(exchange, std::move(problem));
        }
        const json::object body{{"changed", as_array(report.changed)},
                                {"needs_restart", as_array(report.needs_restart)}};
        replies_.later(exchange, Answer{.body = json::serialize(body)});
    });
}

}  // namespace doorbuster
