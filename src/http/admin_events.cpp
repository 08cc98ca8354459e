#include "http/admin_events.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/rfc3339.hpp"
#include "http/admin_problem.hpp"
#include "http/json.hpp"
#include "orders/event_json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr size_t per_page = 50, per_page_max = 500;

// The operator is the one who can do something about it.
json::value instant_or_null(const std::optional<Instant>& at) {
    return at ? json::value(format_rfc3339(*at)) : json::value(nullptr);
}

json::object delivery_json(const Delivery& delivery) {
    json::object into{{"event", event_id(delivery.event.number)},
                      {"type", name_of(delivery.event.kind)},
                      {"happened_at", format_rfc3339(delivery.event.at)},
                      {"sale", delivery.event.sale.view()},
                      {"order", nullptr},
                      {"state", name_of(delivery.state)},
                      {"attempts", delivery.attempts},
                      {"next_attempt_at", instant_or_null(delivery.next_at)},
                      {"updated_at", format_rfc3339(delivery.updated_at)}};
    if (delivery.event.order) into["order"] = std::to_string(static_cast<int64_t>(*delivery.event.order));
    return into;
}

json::object attempt_json(const DeliveryAttempt& attempt) {
    json::object into{{"number", attempt.number}, {"at", format_rfc3339(attempt.at)}};
    into["status"] = attempt.status == 0 ? json::value(nullptr) : json::value(attempt.status);
    into["error"] = attempt.error.empty() ? json::value(nullptr) : json::value(as_utf8(attempt.error));
    into["duration_ms"] = attempt.took.count();
    return into;
}

Reply events_page(OrdersReader& reader, uint64_t after, size_t limit) {
    const auto events = reader.events_after(after, limit);
    if (!events) return failed_store(events.error());
    json::array list;
    for (const EventRecord& event : *events) {
        const auto facts = facts_of(event, reader);
        if (!facts) return failed_store(facts.error());
        list.push_back(json::object{{"id", event_id(event.number)}, {"payload", event_json(*facts)}});
        after = event.number;
    }
    return Answer{.body =
                      json::serialize(json::object{{"events", std::move(list)}, {"next", event_id(after)}})};
}

// A query's fields, each judged; what is wrong is collected.
class ListPage {
public:
    explicit ListPage(std::string_view query) : query_(query) {
        if (const auto text = query_field(query, "limit")) {
            const auto number = parse_number<size_t>(*text);
            if (number && *number >= 1 && *number <= per_page_max) {
                limit = *number;
            } else {
                faults.push_back({"", "the query's limit must be from 1 to 500"});
            }
        }
    }
    std::optional<uint64_t> event(std::string_view name) {
        const auto text = query_field(query_, name);
        if (!text) return std::nullopt;
        const auto number = event_number_of(*text);
        if (!number)
            faults.push_back({"", "the query's " + std::string(name) + " must be the id of an event"});
        return number;
    }
    std::optional<DeliveryState> state() {
        const auto text = query_field(query_, "state");
        if (!text) return std::nullopt;
        const auto found = delivery_state_of(*text);
        if (!found) faults.push_back({"", "the query's state must be pending, delivered or failed"});
        return found;
    }

    size_t limit = per_page;
    std::vector<Fault> faults;

private:
    const std::string_view query_;
};

}  // namespace

bool AdminEvents::handle(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    const bool is_one = path.size() == 3, is_resend = path.size() == 4 && path[3] == "resend";
    if (path[1] == "events" && path.size() == 2) {
        if (!is_read(method)) return replies_.refuse_method(exchange, "GET, HEAD"), true;
        return events(exchange), true;
    }
    if (path[1] != "deliveries" || (path.size() != 2 && !is_one && !is_resend)) return false;
    if (is_resend) {
        if (method != Method::post) return replies_.refuse_method(exchange, "POST"), true;
        return resend(exchange, path[2]), true;
    }
    if (!is_read(method)) return replies_.refuse_method(exchange, "GET, HEAD"), true;
    if (is_one) return delivery(exchange, path[2]), true;
    return deliveries(exchange), true;
}

void AdminEvents::events(Exchange& exchange) {
    const std::string_view query = exchange.request().query;
    if (query_field(query, "after") == "newest") return newest(exchange);
    ListPage page(query);
    const uint64_t after = page.event("after").value_or(0);
    if (!page.faults.empty())
        return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(page.faults)});
    replies_.look_up(exchange, [after, limit = page.limit](Lookups::Readers& readers) {
        return events_page(*readers.orders, after, limit);
    });
}

// Where somebody begins who wants to hear only of what happens from now on.
void AdminEvents::newest(Exchange& exchange) {
    replies_.on_orders_thread(exchange, [this, &exchange] {
        auto newest = services_.outbox.position();
        // The notifier is behind by the events of a few milliseconds.
        while (newest) {
            const auto events = services_.orders.reader().events_after(*newest, per_page_max);
            if (!events) return replies_.later(exchange, admin_problem(events.error()));
            if (events->empty()) break;
            newest = events->back().number;
        }
        if (!newest) return replies_.later(exchange, admin_problem(newest.error()));
        const json::object body{{"events", json::array()}, {"next", event_id(*newest)}};
        replies_.later(exchange, Answer{.body = json::serialize(body)});
    });
}

void AdminEvents::deliveries(Exchange& exchange) {
    ListPage page(exchange.request().query);
    const auto before = page.event("before");
    const auto state = page.state();
    if (!page.faults.empty())
        return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(page.faults)});
    replies_.on_orders_thread(exchange, [this, &exchange, state, before, limit = page.limit] {
        auto found = services_.outbox.deliveries(state, before, limit + 1);
        if (!found) return replies_.later(exchange, admin_problem(found.error()));
        json::value next = nullptr;
        if (found->size() > limit) {  // one more was asked for, to know that there is one
            found->resize(limit);
            next = event_id(found->back().event.number);
        }
        json::array list;
        for (const Delivery& one : *found) list.push_back(delivery_json(one));
        const json::object body{{"deliveries", std::move(list)}, {"next", std::move(next)}};
        replies_.later(exchange, Answer{.body = json::serialize(body)});
    });
}

void AdminEvents::delivery(Exchange& exchange, std::string_view event) {
    const auto number = event_number_of(event);
    if (!number) return replies_.refuse(exchange, Code::not_found);
    replies_.on_orders_thread(exchange, [this, &exchange, number = *number] {
        const auto found = services_.outbox.find_delivery(number);
        if (!found) return replies_.later(exchange, admin_problem(found.error()));
        if (!*found) return replies_.later(exchange, Problem{Code::not_found});
        const auto attempts = services_.outbox.attempts_of(number);
        if (!attempts) return replies_.later(exchange, admin_problem(attempts.error()));
        const auto facts = facts_of((*found)->event, services_.orders.reader());
        if (!facts) return replies_.later(exchange, admin_problem(facts.error()));
        json::array log;
        for (const DeliveryAttempt& attempt : *attempts) log.push_back(attempt_json(attempt));
        const json::object body{{"delivery", delivery_json(**found)},
                                {"attempts", std::move(log)},
                                {"payload", event_json(*facts)}};
        replies_.later(exchange, Answer{.body = json::serialize(body)});
    });
}

void AdminEvents::resend(Exchange& exchange, std::string_view event) {
    const auto number = event_number_of(event);
    if (!number) return replies_.refuse(exchange, Code::not_found);
    const Instant now = services_.clock.now();
    replies_.on_orders_thread(exchange, [this, &exchange, number = *number, now] {
        if (!services_.notifier.is_delivering()) {
            return replies_.later(
                exchange,
                Problem{Code::wrong_state, "there is nobody to send it to: webhooks.url is not set"});
        }
        const auto again = services_.notifier.resend(number, now);
        if (!again) return replies_.later(exchange, admin_problem(again.error()));
        replies_.later(exchange, Answer{.body = json::serialize(delivery_json(*again))});
    });
}

}  // namespace doorbuster
