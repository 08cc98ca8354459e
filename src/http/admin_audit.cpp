#include "http/admin_audit.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

#include "audit/report_html.hpp"
#include "base/rfc3339.hpp"
#include "base/words.hpp"
#include "http/admin_problem.hpp"
#include "http/gate.hpp"
#include "http/json.hpp"
#include "http/json_body.hpp"
#include "http/route.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr size_t runs_per_page = 100;
constexpr size_t keys_max = 100;  // acknowledged in one call
constexpr std::string_view sales_path = "/v1/sales/";
constexpr std::string_view page_headers =
    "Cache-Control: no-store\r\nVary: Accept\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n";

std::optional<uint64_t> run_number(std::string_view text) {
    const auto number = parse_number<uint64_t>(text);
    constexpr auto last = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return number && *number <= last ? number : std::nullopt;
}

void read_keys(const json::value& list, std::set<std::string>& into, std::vector<Fault>& faults) {
    if (!list.is_array() || list.get_array().size() > keys_max) {
        faults.push_back({"/acknowledge", fmt::format("must be a list of at most {} keys", keys_max)});
        return;
    }
    for (size_t i = 0; i < list.get_array().size(); ++i) {
        const json::value& one = list.get_array()[i];
        if (one.is_string() && !one.get_string().empty()) {
            into.emplace(std::string_view(one.get_string()));
        } else {
            faults.push_back({fmt::format("/acknowledge/{}", i), "must be the key of a difference"});
        }
    }
}

std::string runs_body(const std::vector<ReconcileRun>& runs) {
    json::array list;
    for (const ReconcileRun& run : runs) {
        json::object one{{"run", run.number},
                         {"trigger", run.trigger},
                         {"position", run.position},
                         {"agrees", run.agrees},
                         {"differences_total", run.differences},
                         {"known_total", run.known},
                         {"repaired_total", run.repaired}};
        put_instant(one, "at", run.at);
        list.push_back(std::move(one));
    }
    return json::serialize(json::object{{"reconciliations", std::move(list)}});
}

}  // namespace

Result<audit::Wish, std::vector<Fault>> read_reconcile(const json::value& body) {
    if (!body.is_object()) return std::vector<Fault>{{"", "must be an object"}};
    std::vector<Fault> faults;
    audit::Wish wish;
    for (const auto& field : body.get_object()) {
        const std::string_view key(field.key());
        if (key == "acknowledge") {
            read_keys(field.value(), wish.acknowledge, faults);
        } else if (key != "repair") {
            faults.push_back({pointer_step(key), "is not a field of a reconciliation"});
        } else if (field.value().is_bool()) {
            wish.repair = field.value().get_bool();
        } else {
            faults.push_back({"/repair", "must be true or false"});
        }
    }
    if (!faults.empty()) return faults;
    return wish;
}

bool AdminAudit::handle(Exchange& exchange) {
    const Request& request = exchange.request();
    if (!request.path.starts_with(sales_path)) return false;
    std::string_view rest = request.path.substr(sales_path.size());
    const std::string_view name = cut(rest, '/'), verb = cut(rest, '/');
    const bool posts = (verb == "reconcile" || verb == "replay") && rest.empty();
    const bool reads = verb == "reconciliations" && rest.find('/') == std::string_view::npos;
    if ((!posts && !reads) || request.path.ends_with('/')) return false;

    const auto sale = is_slug(name) ? SaleId::from(name) : std::nullopt;
    if (posts && request.method != Method::post) {
        replies_.refuse_method(exchange, "POST");
    } else if (reads && !is_read(request.method)) {
        replies_.refuse_method(exchange, "GET, HEAD");
    } else if (!sale) {
        replies_.refuse(exchange, Code::not_found);
    } else if (verb == "reconcile") {
        reconcile(exchange, *sale);
    } else if (verb == "replay") {
        replay(exchange, *sale);
    } else if (rest.empty()) {
        list(exchange, *sale);
    } else {
        show(exchange, *sale, rest);
    }
    return true;
}

void AdminAudit::on_audit_thread(Exchange& exchange, std::function<void(audit::AuditDesk&)> task) {
    if (!services_.is_ready() || !services_.on_audit_thread)
        return replies_.refuse(exchange, Code::rebuilding);
    if (!services_.on_audit_thread(std::move(task))) replies_.refuse(exchange, Code::overloaded);
}

void AdminAudit::reconcile(Exchange& exchange, const SaleId& sale) {
    audit::Wish wish;
    if (!exchange.request().body.empty()) {
        const auto body = read_json_body(replies_, exchange);
        if (!body) return;
        auto read = read_reconcile(*body);
        if (!read)
            return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(read.error())});
        wish = *std::move(read);
    }
    on_audit_thread(exchange, [this, &exchange, sale, wish = std::move(wish)](audit::AuditDesk& desk) {
        const auto done = desk.reconcile(sale, audit::Trigger::word, wish, services_.clock.now());
        if (done.has_error() && done.error().code == StoreErrc::not_allowed) {
            return replies_.later(
                exchange, Problem{.code = Code::invalid, .faults = {{"/acknowledge", done.error().detail}}});
        }
        if (!done) return replies_.later(exchange, admin_problem(done.error()));
        replies_.later(exchange, Answer{.body = json_of(*done)});
    });
}

void AdminAudit::replay(Exchange& exchange, const SaleId& sale) {
    on_audit_thread(exchange, [this, &exchange, sale](audit::AuditDesk& desk) {
        const auto done = desk.replay(sale);
        if (!done) return replies_.later(exchange, admin_problem(done.error()));
        replies_.later(exchange, Answer{.body = json_of(*done)});
    });
}

void AdminAudit::list(Exchange& exchange, const SaleId& sale) {
    std::optional<uint64_t> before;
    if (const auto text = query_field(exchange.request().query, "before")) {
        before = run_number(*text);
        if (!before) {
            return replies_.refuse(
                exchange, {.code = Code::invalid, .faults = {{"", "before must be the number of a run"}}});
        }
    }
    on_audit_thread(exchange, [this, &exchange, sale, before](audit::AuditDesk& desk) {
        const auto runs = desk.history().runs(sale, before, runs_per_page);
        if (!runs) return replies_.later(exchange, admin_problem(runs.error()));
        replies_.later(exchange, Answer{.body = runs_body(*runs)});
    });
}

void AdminAudit::show(Exchange& exchange, const SaleId& sale, std::string_view run) {
    const auto number = run_number(run);
    if (!number) return replies_.refuse(exchange, Code::not_found);
    const bool as_page = exchange.request().accept.find("text/html") != std::string_view::npos;
    on_audit_thread(exchange, [this, &exchange, sale, number, as_page](audit::AuditDesk& desk) {
        const auto found = desk.history().report(sale, *number);
        if (!found) return replies_.later(exchange, admin_problem(found.error()));
        if (!*found)
            return replies_.later(exchange, Problem{Code::not_found, "there is no such reconciliation"});
        std::string body = **found;
        if (as_page) {
            boost::system::error_code error;
            const json::value report = json::parse(body, error);
            body = audit::report_html(!error && report.is_object() ? report.get_object() : json::object{});
        }
        exchange.gate().post([this, &exchange, as_page, body = std::move(body)] {
            replies_.send(exchange,
                          Response{.status = 200,
                                   .content_type = as_page ? "text/html; charset=utf-8" : "application/json",
                                   .headers = page_headers,
                                   .body = body});
        });
    });
}

}  // namespace doorbuster
