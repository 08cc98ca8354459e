#include "http/orders.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "http/order_json.hpp"
#include "http/route.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr size_t orders_per_page = 20, orders_per_page_max = 100;

std::optional<OrderId> order_id_of(std::string_view text) {
    const auto number = parse_number<int64_t>(text);
    return number ? std::optional(OrderId{*number}) : std::nullopt;
}

Answer answer_with(const OrderRecord& order) {
    return {.body = json::serialize(order_json(order))};
}

Reply page_of(std::vector<OrderRecord> orders, size_t limit) {
    json::value next = nullptr;
    if (orders.size() > limit) {  // one more was asked for, to know that there is one
        orders.resize(limit);
        next = std::to_string(static_cast<int64_t>(orders.back().id));
    }
    json::array list;
    for (const OrderRecord& order : orders) list.push_back(order_json(order));
    return Answer{.body =
                      json::serialize(json::object{{"orders", std::move(list)}, {"next", std::move(next)}})};
}

}  // namespace

void OrderEndpoints::list(Exchange& exchange) {
    const auto who = door_.who(exchange, services_.clock.now());
    if (!who) return;

    size_t limit = orders_per_page;
    std::optional<OrderId> before;
    std::vector<Fault> faults;
    if (const auto text = query_field(exchange.request().query, "limit")) {
        const auto number = parse_number<size_t>(*text);
        if (!number || *number < 1 || *number > orders_per_page_max) {
            faults.push_back({"", "the query's limit must be from 1 to 100"});
        } else {
            limit = *number;
        }
    }
    if (const auto text = query_field(exchange.request().query, "before")) {
        before = order_id_of(*text);
        if (!before) faults.push_back({"", "the query's before must be the id of an order"});
    }
    if (!faults.empty())
        return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(faults)});

    replies_.look_up(exchange, [buyer = who->buyer, before, limit](Lookups::Readers& readers) -> Reply {
        auto orders = readers.order_views().orders_of(buyer, before, limit + 1);
        if (!orders) return failed_store(orders.error());
        return page_of(std::move(*orders), limit);
    });
}

void OrderEndpoints::show(Exchange& exchange, std::string_view order) {
    const auto who = door_.who(exchange, services_.clock.now());
    if (!who) return;
    const auto id = order_id_of(order);
    if (!id) return replies_.refuse(exchange, Code::not_found);

    replies_.look_up(exchange, not_found_, not_found_.question(*id, who->buyer),
                     [id = *id, buyer = who->buyer](Lookups::Readers& readers) -> Reply {
                         const auto found = readers.order_views().find_order(id);
                         if (!found) return failed_store(found.error());
                         if (!*found || (*found)->buyer != buyer) return Problem{Code::not_found};
                         return answer_with(**found);
                     });
}

void OrderEndpoints::cancel(Exchange& exchange, std::string_view order) {
    const Instant now = services_.clock.now();
    const auto who = door_.who(exchange, now);
    if (!who) return;
    const auto id = order_id_of(order);
    if (!id) return replies_.refuse(exchange, Code::not_found);

    replies_.on_orders_thread(exchange, [this, &exchange, id = *id, buyer = who->buyer, now] {
        services_.payments.cancel(id, buyer, now,
                                  [this, &exchange](const StoreResult<OrderRecord>& cancelled) {
                                      if (!cancelled)
                                          return replies_.later(exchange, order_problem(cancelled.error()));
                                      replies_.later(exchange, answer_with(*cancelled));
                                  });
    });
}

}  // namespace doorbuster
