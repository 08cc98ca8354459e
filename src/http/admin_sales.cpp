#include "http/admin_sales.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/rfc3339.hpp"
#include "http/admin_problem.hpp"
#include "http/etag.hpp"
#include "http/json_body.hpp"
#include "http/rebuild_body.hpp"
#include "http/restock_body.hpp"
#include "http/route.hpp"
#include "http/sale_json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

Problem problem_of(const StoreError& error) {
    if (error.code == StoreErrc::exists) return {Code::exists, "a sale with this id is there already"};
    if (error.code == StoreErrc::conflict)
        return {Code::version_changed, "the sale has changed: read it again"};
    return admin_problem(error);
}

json::array warm_up_json(const WarmUpFindings& findings) {
    json::array list;
    for (const WarmUpFinding& finding : findings) {
        list.push_back(json::object{{"check", finding.check},
                                    {"severity", doorbuster::name_of(finding.severity)},
                                    {"what", finding.what},
                                    {"mend", finding.mend}});
    }
    return list;
}

json::array books_json(const std::vector<BookEpoch>& books) {
    json::array list;
    for (const BookEpoch& book : books) {
        list.push_back(json::object{{"id", book.item.view()},
                                    {"epoch", book.epoch},
                                    {"state", book.is_open ? "open" : "rebuilding"}});
    }
    return list;
}

std::string headers_with(uint64_t version) {
    return fmt::format("{}ETag: {}\r\n", no_store, version_etag(version));
}

}  // namespace

const ListedSale* AdminSales::find(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = catalogue_->find(sale);
    if (listed == nullptr) {
        replies_.refuse(exchange,
                        Problem{.code = Code::not_found, .detail = "there is no sale with this id"});
    }
    return listed;
}

bool AdminSales::read_version(Exchange& exchange, const ListedSale& listed, bool required,
                              std::optional<uint64_t>& into) {
    const std::string_view if_match = exchange.request().if_match;
    if (if_match.empty()) {
        if (!required) return true;
        replies_.refuse(exchange,
                        Problem{.code = Code::version_required,
                                .detail = "send If-Match with the sale's ETag, as reading it shows"});
        return false;
    }
    into = if_match == "*" ? listed.version : version_in(if_match);
    if (into) return true;
    replies_.refuse(exchange,
                    Problem{.code = Code::version_changed,
                            .detail = fmt::format("If-Match must be the sale's ETag, which is {} now",
                                                  version_etag(listed.version))});
    return false;
}

SaleDesk::Done AdminSales::answer_with_sale(Exchange& exchange, int status) {
    return [this, &exchange, status](const StoreResult<SaleRecord>& result) {
        if (!result) return replies_.later(exchange, problem_of(result.error()));
        Answer answer{.status = status,
                      .headers = headers_with(result->version),
                      .body = json::serialize(admin_sale_json(*result))};
        if (status == 201)
            answer.headers += fmt::format("Location: /v1/sales/{}\r\n", result->sale.id.view());
        replies_.later(exchange, std::move(answer));
    };
}

void AdminSales::list(Exchange& exchange) {
    json::array sales;
    for (const auto& [id, listed] : catalogue_->sales()) sales.push_back(admin_sale_json(*listed));
    replies_.send(exchange, Answer{.body = json::serialize(json::object{{"sales", std::move(sales)}})});
}

void AdminSales::show(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr) return;
    replies_.send(exchange, Answer{.headers = headers_with(listed->version),
                                   .body = json::serialize(admin_sale_json(*listed))});
}

void AdminSales::status(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr) return;
    const PurchaseDesk::Figures books = services_.purchases.figures();
    const json::object ledger{{"acceptances_total", books.acceptances}};
    const OrderFigures figures = services_.order_figures();
    const json::object orders{{"ordered_total", figures.ordered},
                              {"cancelled_total", figures.cancelled},
                              {"dead_letters_total", figures.dead_letters},
                              {"position", figures.position}};
    const json::object queue{
        {"queued", books.queued},
        {"predicted_wait_ms", std::chrono::duration_cast<milliseconds>(books.predicted_wait).count()}};
    // Only the first two are the sale's; the rest count over all sales since the process started.
    json::object server;
    for (const json::object* block : {&ledger, &orders, &queue}) server.insert(block->begin(), block->end());
    const auto body =
        [figures = fmt::format(R"({{"sale":{},"items":{},"server":{},"ledger":{},"orders":{},"queue":{})",
                               json::serialize(admin_sale_json(*listed)), stock_text(*listed),
                               json::serialize(server), json::serialize(ledger), json::serialize(orders),
                               json::serialize(queue))](const WarmUpFindings& findings) {
            return fmt::format(R"({},"warm_up":{}}})", figures, json::serialize(warm_up_json(findings)));
        };
    if (listed->state != SaleState::warming && listed->state != SaleState::ready)
        return replies_.send(exchange, Answer{.body = body({})});
    replies_.on_orders_thread(exchange, [this, &exchange, id = listed->sale.id, body] {
        replies_.later(exchange, Answer{.body = body(services_.desk.warm_up_of(id))});
    });
}

void AdminSales::create(Exchange& exchange) {
    const auto body = read_json_body(replies_, exchange);
    if (!body) return;
    const Instant now = services_.clock.now();
    SaleReading reading = read_sale(*body, now);
    if (!reading.faults.empty()) {
        return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(reading.faults)});
    }
    const bool as_draft = reading.state == SaleState::draft;
    replies_.on_orders_thread(exchange, [this, &exchange, sale = std::move(reading.sale), as_draft, now] {
        services_.desk.create(sale, as_draft, now, answer_with_sale(exchange, 201));
    });
}

void AdminSales::change(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr) return;
    std::optional<uint64_t> version;
    if (!read_version(exchange, *listed, true, version)) return;
    auto body = read_json_body(replies_, exchange);
    if (!body) return;

    const Instant now = services_.clock.now();
    replies_.on_orders_thread(
        exchange, [this, &exchange, id = listed->sale.id, version = *version, patch = std::move(*body), now] {
            // Merged where the sale is kept, so that the version and what it is merged with agree.
            const SaleRecord* record = services_.desk.find(id);
            if (record == nullptr) return replies_.later(exchange, Problem{Code::not_found});
            SaleReading reading = read_sale_patch(record->sale, patch, now);
            if (reading.state == SaleState::draft && record->state != SaleState::draft) {
                reading.faults.push_back({"/state", "a sale that was scheduled is no draft again"});
            }
            if (!reading.faults.empty()) {
                return replies_.later(exchange,
                                      Problem{.code = Code::invalid, .faults = std::move(reading.faults)});
            }
            const bool schedule = reading.state == SaleState::scheduled;
            services_.desk.change(reading.sale, schedule, version, now, answer_with_sale(exchange, 200));
        });
}

void AdminSales::act(Exchange& exchange, std::string_view sale, SaleVerb verb) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr) return;
    std::optional<uint64_t> version;
    if (!read_version(exchange, *listed, false, version)) return;
    if (verb == SaleVerb::warm && listed->state == SaleState::draft) {
        return replies_.refuse(
            exchange, Problem{.code = Code::wrong_state,
                              .detail = fmt::format(
                                  R"(the sale is a draft; schedule it first: )"
                                  R"(`doorbuster sale schedule {}`, or PATCH {{"state":"scheduled"}})",
                                  sale)});
    }

    const Instant now = services_.clock.now();
    replies_.on_orders_thread(exchange, [this, &exchange, id = listed->sale.id, verb, version, now] {
        services_.desk.act(id, verb, version, now, answer_with_sale(exchange, 200));
    });
}

void AdminSales::restock(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr) return;
    std::optional<uint64_t> version;
    if (!read_version(exchange, *listed, true, version)) return;
    const auto body = read_json_body(replies_, exchange);
    if (!body) return;
    RestockReading reading = read_restock(*body, *listed);
    if (!reading.faults.empty()) {
        return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(reading.faults)});
    }

    const Instant now = services_.clock.now();
    replies_.on_orders_thread(exchange, [this, &exchange, id = listed->sale.id, item = reading.item,
                                         units = reading.units, version = *version, now] {
        services_.desk.restock(id, item, units, version, now, answer_with_sale(exchange, 200));
    });
}

bool AdminSales::has_books_elsewhere(Exchange& exchange) {
    if (services_.rebuilds != nullptr) return true;
    replies_.refuse(exchange,
                    Problem{.code = Code::wrong_state,
                            .detail = "the books of this server are in its own memory, and are rebuilt from "
                                      "the ledger whenever it starts: there is nothing to rebuild by hand"});
    return false;
}

void AdminSales::rebuild(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr) return;
    RebuildReading reading;
    if (!exchange.request().body.empty()) {
        const auto body = read_json_body(replies_, exchange);
        if (!body) return;
        reading = read_rebuild(*body);
        if (!reading.faults.empty())
            return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(reading.faults)});
    }
    std::vector<ItemId> items;
    for (const ListedItem& item : listed->items) {
        if (!reading.item || item.item.id.view() == *reading.item) items.push_back(item.item.id);
    }
    if (items.empty())
        return replies_.refuse(exchange, Problem{Code::not_found, "the sale has no item with this id"});
    if (!has_books_elsewhere(exchange)) return;
    const Phase phase = phase_in(listed->state);
    if ((phase == Phase::not_ready && listed->state != SaleState::warming) || phase == Phase::closed) {
        return replies_.refuse(
            exchange, Problem{Code::wrong_state,
                              fmt::format("the sale is {}; it has books from its warm-up until it is closed",
                                          doorbuster::name_of(listed->state))});
    }

    replies_.on_orders_thread(exchange, [this, &exchange, id = listed->sale.id, items = std::move(items),
                                         reason = std::move(reading.reason)] {
        const auto asked = services_.rebuilds->ask(id, items, reason);
        if (!asked) return replies_.later(exchange, admin_problem(asked.error()));
        replies_.later(
            exchange,
            Answer{.status = 202,
                   .headers = fmt::format("{}Location: /v1/sales/{}/rebuild\r\n", no_store, id.view()),
                   .body = json::serialize(json::object{
                       {"sale", id.view()}, {"reason", reason}, {"items", books_json(*asked)}})});
    });
}

void AdminSales::show_books(Exchange& exchange, std::string_view sale) {
    const ListedSale* listed = find(exchange, sale);
    if (listed == nullptr || !has_books_elsewhere(exchange)) return;
    replies_.on_orders_thread(exchange, [this, &exchange, id = listed->sale.id] {
        const auto books = services_.rebuilds->epochs(id);
        if (!books) return replies_.later(exchange, admin_problem(books.error()));
        replies_.later(exchange, Answer{.body = json::serialize(json::object{
                                            {"sale", id.view()}, {"items", books_json(*books)}})});
    });
}

}  // namespace doorbuster
