#include "http/admin_orders.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

#include "base/rfc3339.hpp"
#include "http/admin_problem.hpp"
#include "http/json.hpp"
#include "http/json_body.hpp"
#include "http/order_json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr size_t letters_per_page = 100, reason_bytes_max = 200;

// The operator is the one who can do something about it.
std::optional<uint64_t> position_of(std::string_view text) {
    const auto position = parse_number<uint64_t>(text);
    constexpr auto last = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return position && *position <= last ? position : std::nullopt;
}

std::string_view name_of_letter(LetterState state) {
    return state == LetterState::open ? "open" : state == LetterState::retried ? "retried" : "dropped";
}

json::object letter_json(const DeadLetter& letter) {
    return {{"position", letter.position},
            {"state", name_of_letter(letter.state)},
            {"reason", as_utf8(letter.reason)},
            {"record", as_utf8(letter.record)},
            {"buried_at", format_rfc3339(letter.buried_at)}};
}

struct RefundReading {
    bool units_return = true;
    std::string reason = "refunded by the shop";
    std::vector<Fault> faults;
};

RefundReading read_refund(const json::value& body) {
    RefundReading reading;
    if (!body.is_object()) {
        reading.faults.push_back({"", "must be an object"});
        return reading;
    }
    for (const auto& field : body.get_object()) {
        const std::string_view key(field.key());
        if (key == "units_return" && field.value().is_bool()) {
            reading.units_return = field.value().get_bool();
        } else if (key == "units_return") {
            reading.faults.push_back({"/units_return", "must be true or false"});
        } else if (key != "reason") {
            reading.faults.push_back({pointer_step(key), "is not a field of a refund"});
        } else if (field.value().is_string() && !field.value().get_string().empty() &&
                   field.value().get_string().size() <= reason_bytes_max) {
            reading.reason = field.value().get_string();
        } else {
            reading.faults.push_back({"/reason", "must be text of 1 to 200 bytes: the buyer reads it"});
        }
    }
    return reading;
}

Result<json::object, StoreError> whole_order(OrdersReader& reader, const OrderRecord& order) {
    json::object body = order_json(order);
    body["buyer"] = as_utf8(order.buyer.view());
    const auto payments = reader.payments_of(order.id);
    if (!payments) return payments.error();
    json::array list;
    for (const PaymentRecord& payment : *payments) list.push_back(admin_payment_json(payment));
    body["payments"] = std::move(list);
    return body;
}

}  // namespace

bool AdminOrders::handle(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    const bool reads = is_read(method);
    auto reading = [&](auto act) {
        reads ? act() : replies_.refuse_method(exchange, "GET, HEAD");
        return true;
    };
    auto posting = [&](auto act) {
        method == Method::post ? act() : replies_.refuse_method(exchange, "POST");
        return true;
    };
    if (path[1] == "orders" && path.size() == 3) return reading([&] { show(exchange, path[2]); });
    if (path[1] == "orders" && path.size() == 4 && path[3] == "refund")
        return posting([&] { refund(exchange, path[2]); });
    if (path[1] != "dead-letters") return false;
    if (path.size() == 2) return reading([&] { letters(exchange); });
    if (path.size() == 3) return reading([&] { letter(exchange, path[2]); });
    if (path.size() == 4 && (path[3] == "retry" || path[3] == "drop"))
        return posting([&] { end_letter(exchange, path[2], path[3] == "retry"); });
    return false;
}

void AdminOrders::show(Exchange& exchange, std::string_view order) {
    const auto id = parse_number<int64_t>(order);
    if (!id) return replies_.refuse(exchange, Code::not_found);
    replies_.look_up(exchange, [id = OrderId{*id}](Lookups::Readers& readers) -> Reply {
        const auto found = readers.orders->find_order(id);
        if (!found) return admin_problem(found.error());
        if (!*found) return Problem{Code::not_found, "there is no such order"};
        const auto body = whole_order(*readers.orders, **found);
        if (!body) return admin_problem(body.error());
        return Answer{.body = json::serialize(*body)};
    });
}

void AdminOrders::refund(Exchange& exchange, std::string_view order) {
    const auto id = parse_number<int64_t>(order);
    if (!id) return replies_.refuse(exchange, Code::not_found);
    RefundReading wanted;
    if (!exchange.request().body.empty()) {
        const auto body = read_json_body(replies_, exchange);
        if (!body) return;
        wanted = read_refund(*body);
        if (!wanted.faults.empty())
            return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(wanted.faults)});
    }
    const Instant now = services_.clock.now();
    replies_.on_orders_thread(exchange, [this, &exchange, id = OrderId{*id}, wanted, now] {
        services_.payments.refund(id, wanted.units_return, wanted.reason, now,
                                  [this, &exchange](const StoreResult<OrderRecord>& refunded) {
                                      if (!refunded)
                                          return replies_.later(exchange, admin_problem(refunded.error()));
                                      replies_.later(exchange,
                                                     Answer{.body = json::serialize(order_json(*refunded))});
                                  });
    });
}

void AdminOrders::letters(Exchange& exchange) {
    uint64_t after = 0;
    if (const auto text = query_field(exchange.request().query, "after")) {
        const auto position = position_of(*text);
        if (!position) {
            return replies_.refuse(
                exchange, {.code = Code::invalid, .faults = {{"", "the query's after must be a position"}}});
        }
        after = *position;
    }
    replies_.look_up(exchange, [after](Lookups::Readers& readers) -> Reply {
        const auto found = readers.orders->dead_letters(after, letters_per_page);
        if (!found) return admin_problem(found.error());
        json::array list;
        for (const DeadLetter& one : *found) list.push_back(letter_json(one));
        return Answer{.body = json::serialize(json::object{{"dead_letters", std::move(list)}})};
    });
}

void AdminOrders::letter(Exchange& exchange, std::string_view text) {
    const auto position = position_of(text);
    if (!position || *position == 0) return replies_.refuse(exchange, Code::not_found);
    replies_.look_up(exchange, [position = *position](Lookups::Readers& readers) -> Reply {
        const auto found = readers.orders->dead_letters(position - 1, 1);
        if (!found) return admin_problem(found.error());
        if (found->empty() || found->front().position != position)
            return Problem{Code::not_found, "there is no such dead letter"};
        return Answer{.body = json::serialize(letter_json(found->front()))};
    });
}

void AdminOrders::end_letter(Exchange& exchange, std::string_view text, bool retry) {
    const auto position = position_of(text);
    if (!position) return replies_.refuse(exchange, Code::not_found);
    const Instant now = services_.clock.now();
    replies_.on_orders_thread(exchange, [this, &exchange, position = *position, retry, now] {
        auto done = [this, &exchange, position](const StoreResult<LetterState>& ended) {
            if (!ended) return replies_.later(exchange, admin_problem(ended.error()));
            const json::object body{{"position", position}, {"state", name_of_letter(*ended)}};
            replies_.later(exchange, Answer{.body = json::serialize(body)});
        };
        retry ? services_.letters.retry(position, now, done) : done(services_.letters.drop(position, now));
    });
}

}  // namespace doorbuster
