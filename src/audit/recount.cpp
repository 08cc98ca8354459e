#include "audit/recount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "audit/order_holds.hpp"
#include "audit/takes.hpp"
#include "base/check.hpp"

namespace doorbuster::audit {

namespace {

using ItemKey = std::pair<SaleId, ItemId>;
using HoldingKey = std::pair<ItemKey, BuyerId>;

std::string text_of(const ItemKey& key) {
    return fmt::format("{}/{}", key.first.view(), key.second.view());
}
std::string text_of(OrderId id) {
    return fmt::format("order {}", static_cast<int64_t>(id));
}

std::string text_of_position(uint64_t number) {
    const LedgerPlace place = LedgerPlace::of(number);
    if (place.partition == 0) return fmt::format("position {}", place.position);
    return fmt::format("position {} of partition {}", place.position, place.partition);
}

std::string_view words_of(HoldState hold) {
    switch (hold) {
        case HoldState::held:
            return "still held";
        case HoldState::sold:
            return "sold";
        case HoldState::open:
            return "not taken yet";
        case HoldState::finished:
            return "given back";
    }
    CHECK(false);
    return {};
}

struct Sums {
    uint64_t held = 0, sold = 0, open = 0, in_flight = 0;
};

class Recount {
public:
    explicit Recount(const Records& records) : records_(records) {
        for (const SaleRecord& record : records_.sales) {
            for (const Item& item : record.sale.items) {
                const ItemKey key{record.sale.id, item.id};
                terms_[key] = &item;
                takes_at_acceptance_[key] = record.sale.stock_policy != StockPolicy::at_payment;
            }
        }
    }

    Counted run() {
        count_orders();
        compare_purchases();
        compare_ledger();
        compare_payments();
        compare_releases();
        compare_stock();
        compare_holdings();
        return std::move(counted_);
    }

private:
    uint64_t& looked(Check check) { return counted_.looked[static_cast<size_t>(check)]; }

    Difference& differ(Kind kind, const SaleId& sale, std::string where, std::string detail) {
        Difference one;
        one.kind = kind;
        one.sale = sale;
        one.where = std::move(where);
        one.detail = std::move(detail);
        counted_.differences.push_back(std::move(one));
        return counted_.differences.back();
    }
    Difference& differ(Kind kind, const OrderRecord& order, std::string detail) {
        Difference& one = differ(kind, order.sale, text_of(order.id), std::move(detail));
        one.item = order.item;
        one.buyer = order.buyer;
        one.purchase = order.purchase;
        one.order = order.id;
        return one;
    }
    Difference& differ(Kind kind, const PurchaseRecord& purchase, std::string detail) {
        Difference& one = differ(kind, purchase.sale, purchase.acceptance.purchase.hex(), std::move(detail));
        one.item = purchase.item;
        one.buyer = purchase.acceptance.buyer;
        one.purchase = purchase.acceptance.purchase;
        one.order = purchase.order;
        one.sequence = purchase.acceptance.sequence;
        return one;
    }
    Difference& differ(Kind kind, const LedgerRecord& record, std::string where, std::string detail) {
        const LedgerEntry& entry = *record.entry;
        Difference& one = differ(kind, entry.sale, std::move(where), std::move(detail));
        one.item = entry.item;
        one.buyer = entry.acceptance.buyer;
        one.purchase = entry.acceptance.purchase;
        one.position = record.position;
        one.sequence = entry.acceptance.sequence;
        return one;
    }

    void count_orders() {
        for (const OrderRecord& order : records_.orders) {
            orders_.emplace(order.id, &order);
            holders_.emplace(order.holder, &order);
            if (!orders_by_purchase_.emplace(order.purchase, &order).second) {
                differ(Kind::order_twice, order,
                       fmt::format("purchase {} has more than one order", order.purchase.hex()));
            }
            Sums& sums = sums_[{order.sale, order.item}];
            switch (order.hold) {
                case HoldState::held:
                    sums.held += order.units;
                    break;
                case HoldState::sold:
                    sums.sold += order.units;
                    break;
                case HoldState::open:
                    sums.open += order.units;
                    break;
                case HoldState::finished:
                    continue;
            }
            const HoldingKey holding{{order.sale, order.item}, order.buyer};
            holdings_[holding] += order.units;
            OrderId& newest = newest_[holding];
            newest = std::max(newest, order.id);
        }
        looked(Check::units) = records_.orders.size();
    }

    void compare_purchases() {
        // An order may have had several holders, one after the other: a dead letter that was tried
        // again, then a late payment.
        std::map<PurchaseId, PurchaseId> continued;
        for (const LedgerRecord& record : records_.ledger) {
            if (record.entry && record.entry->replaces)
                continued.emplace(record.entry->acceptance.purchase, *record.entry->replaces);
        }
        for (const PurchaseRecord& purchase : records_.purchases) {
            const PurchaseId& id = purchase.acceptance.purchase;
            purchases_.emplace(id, &purchase);
            if (!purchase.order) continue;
            const auto found = orders_.find(*purchase.order);
            if (found == orders_.end()) {
                differ(Kind::purchase_without_order, purchase,
                       fmt::format("it names order {}, which is not there",
                                   static_cast<int64_t>(*purchase.order)));
                continue;
            }
            const OrderRecord& own = *found->second;
            const auto before = continued.find(id);
            const bool is_its = own.purchase == id || own.holder == id ||
                                (before != continued.end() && before->second == own.purchase);
            if (is_its) {
                compare_with_order(purchase, own);
            } else {
                differ(Kind::order_disagrees, purchase,
                       fmt::format("{}, which it names, is another purchase's", text_of(own.id)));
            }
        }
        for (const auto& [id, order] : orders_by_purchase_) {
            const auto found = purchases_.find(id);
            if (found == purchases_.end()) {
                differ(Kind::order_without_purchase, *order, "its purchase is not there");
            } else if (!found->second->order) {
                differ(Kind::order_disagrees, *order, "its purchase says that it never became an order");
            }
        }
        looked(Check::ledger) = records_.ledger.size() + records_.purchases.size();
    }

    void compare_with_order(const PurchaseRecord& purchase, const OrderRecord& own) {
        const Acceptance& acceptance = purchase.acceptance;
        const bool is_active = own.hold != HoldState::finished;
        const std::array<std::pair<std::string_view, bool>, 5> same = {
            {{"buyer", own.buyer == acceptance.buyer},
             {"units", own.units == acceptance.units},
             {"item", own.item == purchase.item},
             {"sale", own.sale == purchase.sale},
             {"state", is_active == (purchase.state == PurchaseState::ordered)}}};
        std::vector<std::string_view> in;
        uint64_t which = 0;
        for (size_t i = 0; i < same.size(); ++i) {
            if (same[i].second) continue;
            in.push_back(same[i].first);
            which |= uint64_t{1} << i;
        }
        if (in.empty()) return;
        differ(Kind::order_disagrees, purchase,
               fmt::format("purchase and {} differ in {}", text_of(own.id), fmt::join(in, ", ")))
            .figures = {which, acceptance.units, own.units};
    }

    void compare_ledger() {
        std::set<uint64_t> buried;
        for (const DeadLetter& letter : records_.dead_letters) buried.insert(letter.position);
        const std::vector<Weight> weights = weigh(records_.ledger);
        std::set<PurchaseId> in_ledger;
        std::map<ItemKey, uint64_t> sequences;
        for (size_t i = 0; i < records_.ledger.size(); ++i) {
            const LedgerRecord& record = records_.ledger[i];
            if (record.seal) continue;
            const bool is_passed = records_.position.covers(record.position);
            if (!is_passed) ++counted_.in_flight;
            if (!record.entry) {
                if (is_passed && !buried.contains(record.position)) {
                    differ(Kind::ledger_without_purchase, SaleId{}, text_of_position(record.position),
                           "the worker passed it, and it cannot be read")
                        .position = record.position;
                }
                continue;
            }
            const Acceptance& acceptance = record.entry->acceptance;
            in_ledger.insert(acceptance.purchase);
            if (weights[i] == Weight::taken_twice) {
                differ(Kind::ledger_twice, record, acceptance.purchase.hex(),
                       fmt::format("it stands in the ledger a second time, at {}",
                                   text_of_position(record.position)));
            }
            if (record.entry->epoch == 0) {
                const ItemKey item{record.entry->sale, record.entry->item};
                compare_sequence(record, item, sequences[item]);
            } else if (weights[i] == Weight::counts) {
                compare_number(record);
            }
            if (purchases_.contains(acceptance.purchase) || weights[i] == Weight::again) continue;
            compare_missing(record, weights[i], is_passed, buried.contains(record.position));
        }
        for (const auto& [id, purchase] : purchases_) {
            if (!in_ledger.contains(id))
                differ(Kind::purchase_without_ledger, *purchase, "no ledger record explains it");
        }
        looked(Check::sequences) = records_.ledger.size();
    }

    // A record whose purchase the orders do not have.
    void compare_missing(const LedgerRecord& record, Weight weight, bool is_passed, bool is_buried) {
        const LedgerEntry& entry = *record.entry;
        const Acceptance& acceptance = entry.acceptance;
        if (!is_passed) {
            const bool takes = weight == Weight::counts && records_.end_before.covers(record.position);
            if (!takes) return;
            sums_[{entry.sale, entry.item}].in_flight += acceptance.units;
            holdings_in_flight_[{{entry.sale, entry.item}, acceptance.buyer}] += acceptance.units;
            return;
        }
        if (is_buried) return;
        if (weight == Weight::late && records_.late.contains(record.position)) {
            ++counted_.in_flight;  // the next SEAL decides
            return;
        }
        differ(Kind::ledger_without_purchase, record, acceptance.purchase.hex(),
               fmt::format("accepted at {}, which the worker passed, but neither ordered nor cancelled",
                           text_of_position(record.position)));
    }

    // On its way a record may overtake another, and a number whose record never came to the ledger was
    // nobody's yes: the numbers of an epoch need not be in order, nor without gaps. But each is one
    // purchase's.
    void compare_number(const LedgerRecord& record) {
        const LedgerEntry& entry = *record.entry;
        const auto [other, is_new] = numbers_.try_emplace(
            {{entry.sale, entry.item}, entry.epoch, entry.bucket, entry.acceptance.sequence},
            entry.acceptance.purchase);
        if (is_new) return;
        differ(
            Kind::sequence_order, record, text_of({entry.sale, entry.item}),
            fmt::format("number {} of epoch {} was given to purchase {}, too: Redis forgot what it had given",
                        entry.acceptance.sequence, entry.epoch, other->second.hex()));
    }

    void compare_sequence(const LedgerRecord& record, const ItemKey& item, uint64_t& last) {
        const uint64_t sequence = record.entry->acceptance.sequence;
        if (sequence <= last) {
            differ(Kind::sequence_order, record, text_of(item),
                   fmt::format("number {} stands behind number {}", sequence, last))
                .figures = {last};
        } else if (sequence != last + 1) {
            const uint64_t missing = sequence - last - 1;
            differ(Kind::sequence_gap, record, text_of(item),
                   fmt::format("number {} follows number {}: {} missing", sequence, last, missing))
                .figures = {missing};
        }
        last = std::max(last, sequence);
    }

    void compare_payments() {
        std::map<OrderId, std::vector<const PaymentRecord*>> captured;
        for (const PaymentRecord& payment : records_.payments) {
            if (payment.state == PaymentState::captured) captured[payment.order].push_back(&payment);
        }
        for (const OrderRecord& order : records_.orders) {
            compare_amount(order);
            if (order.state != OrderState::paid) continue;
            const auto found = captured.find(order.id);
            if (found == captured.end()) {
                differ(Kind::paid_without_capture, order, "it is paid, but no payment of it is captured")
                    .payment = order.payment;
                continue;
            }
            const bool suffices = std::any_of(found->second.begin(), found->second.end(), [&](auto* one) {
                return one->captured_minor == order.amount_minor && one->captured_currency == order.currency;
            });
            if (suffices) continue;
            const PaymentRecord& wrong = *found->second.front();
            Difference& one =
                differ(Kind::paid_without_capture, order,
                       fmt::format("it costs {} {}, and {} {} was captured", order.amount_minor,
                                   order.currency, wrong.captured_minor, wrong.captured_currency));
            one.payment = wrong.id;
            one.figures = {static_cast<uint64_t>(wrong.captured_minor),
                           static_cast<uint64_t>(order.amount_minor)};
        }
        for (const auto& [id, payments] : captured) compare_captures(id, payments);
        looked(Check::payments) = records_.payments.size();
    }

    // Prices stand since the warm-up, before there were orders.
    void compare_amount(const OrderRecord& order) {
        const auto found = terms_.find({order.sale, order.item});
        if (found == terms_.end()) return;
        const Item& terms = *found->second;
        const int64_t amount_minor = terms.price_minor * order.units;
        if (order.amount_minor == amount_minor && order.currency == terms.currency) return;
        differ(Kind::amount_disagrees, order,
               fmt::format("it costs {} {}, but its {} units cost {} {}", order.amount_minor, order.currency,
                           order.units, amount_minor, terms.currency))
            .figures = {static_cast<uint64_t>(order.amount_minor), static_cast<uint64_t>(amount_minor)};
    }

    void compare_captures(OrderId id, const std::vector<const PaymentRecord*>& captured) {
        const auto found = orders_.find(id);
        const OrderRecord* order = found == orders_.end() ? nullptr : found->second;
        const bool is_owed =
            order != nullptr && (order->state == OrderState::paid || order->state == OrderState::reinstating);
        // The one that the order names pays for it; where it names none of these, the first.
        const PaymentRecord* pays = is_owed ? captured.front() : nullptr;
        for (const PaymentRecord* one : captured) {
            if (is_owed && order->payment == one->id) pays = one;
        }
        for (const PaymentRecord* one : captured) {
            if (one == pays) continue;
            std::string detail =
                fmt::format("{} {} was captured, ", one->captured_minor, one->captured_currency);
            detail += order == nullptr ? "but the order is not there"
                      : is_owed        ? "but another capture pays for the order already"
                                       : fmt::format("but the order is {}", name_of(order->state));
            Difference& difference =
                order == nullptr ? differ(Kind::capture_without_order, sale_of_missing(id),
                                          fmt::format("payment {}", static_cast<int64_t>(one->id)), detail)
                                 : differ(Kind::capture_without_order, *order, detail);
            difference.order = id;
            difference.payment = one->id;
        }
    }

    SaleId sale_of_missing(OrderId order) const {
        for (const PurchaseRecord& purchase : records_.purchases) {
            if (purchase.order == order) return purchase.sale;
        }
        return {};
    }

    void compare_releases() {
        std::map<PurchaseId, uint64_t> released;
        for (const StockMove& move : records_.stock_moves) {
            if (move.kind == StockMoveKind::released && move.purchase) ++released[*move.purchase];
        }
        for (const OrderRecord& order : records_.orders) {
            const auto fault = fault_of_hold(order);
            if (!fault) continue;
            Difference& one = differ(*fault, order,
                                     fmt::format("it is {}, but its {} units are {}", name_of(order.state),
                                                 order.units, words_of(order.hold)));
            if (*fault == Kind::hold_disagrees) one.figures = {static_cast<uint64_t>(order.hold)};
        }
        for (const auto& [holder, times] : released) {
            const auto found = holders_.find(holder);
            if (found == holders_.end()) {
                if (times > 1) released_by_nobody(holder, times);
                continue;
            }
            const OrderRecord& order = *found->second;
            const bool still_has = order.hold != HoldState::finished;
            if (times + (still_has ? 1 : 0) < 2) continue;
            Difference& one = differ(Kind::released_twice, order,
                                     fmt::format("its {} units were given back {} times{}", order.units,
                                                 times, still_has ? ", and it still has them" : ""));
            one.purchase = holder;
            one.figures = {times};
        }
        looked(Check::releases) = records_.stock_moves.size();
    }

    // The holder's order is not there, or is held under another id since.
    void released_by_nobody(const PurchaseId& holder, uint64_t times) {
        const auto purchase = purchases_.find(holder);
        if (purchase == purchases_.end()) return;  // found as an order without a purchase, or none at all
        differ(
            Kind::released_twice, *purchase->second,
            fmt::format("its {} units were given back {} times", purchase->second->acceptance.units, times))
            .figures = {times};
    }

    void compare_stock() {
        for (const SaleRecord& record : records_.sales) {
            for (size_t i = 0; i < record.sale.items.size(); ++i) {
                const ItemKey item{record.sale.id, record.sale.items[i].id};
                const Stock& stock = record.stock[i];
                const Sums sums = sums_[item];
                counted_.items.push_back({.sale = item.first,
                                          .item = item.second,
                                          .stock = stock,
                                          .held = sums.held,
                                          .sold = sums.sold,
                                          .open = sums.open,
                                          .in_flight = sums.in_flight});
                if (stock.units_held != sums.held || stock.units_sold != sums.sold ||
                    uint64_t{stock.units_available} + sums.held + sums.sold != stock.units_total) {
                    Difference& one = differ(
                        Kind::units, item.first, text_of(item),
                        fmt::format("the stock row says {} available, {} held, {} sold of {}; the orders "
                                    "hold {} and have {} sold",
                                    stock.units_available, stock.units_held, stock.units_sold,
                                    stock.units_total, sums.held, sums.sold));
                    one.item = item.second;
                    one.figures = {stock.units_available, stock.units_held, stock.units_sold,
                                   stock.units_total,     sums.held,        sums.sold};
                }
                const uint64_t in_flight = takes_at_acceptance_[item] ? sums.in_flight : 0;
                const uint64_t promised = sums.held + sums.sold + in_flight;
                if (promised > stock.units_total) {
                    Difference& one =
                        differ(Kind::oversold, item.first, text_of(item),
                               fmt::format("{} units are promised of {}", promised, stock.units_total));
                    one.item = item.second;
                    one.figures = {promised, stock.units_total};
                }
            }
        }
    }

    void compare_holdings() {
        std::map<HoldingKey, uint64_t> rows;
        for (const Holding& row : records_.holdings) rows[{{row.sale, row.item}, row.buyer}] += row.units;
        std::set<HoldingKey> keys;
        for (const auto& [key, units] : rows) keys.insert(key);
        for (const auto& [key, units] : holdings_) keys.insert(key);
        for (const auto& [key, units] : holdings_in_flight_) keys.insert(key);
        for (const HoldingKey& key : keys) {
            compare_holding(key, value_or_zero(rows, key), value_or_zero(holdings_, key),
                            value_or_zero(holdings_in_flight_, key));
        }
        looked(Check::holdings) = keys.size();
    }

    static uint64_t value_or_zero(const std::map<HoldingKey, uint64_t>& in, const HoldingKey& key) {
        const auto found = in.find(key);
        return found == in.end() ? 0 : found->second;
    }

    void compare_holding(const HoldingKey& key, uint64_t row, uint64_t counted, uint64_t in_flight) {
        const std::string where = fmt::format("{} {}", text_of(key.first), key.second.view());
        auto mark = [&](Difference& one, std::vector<uint64_t> figures) {
            one.item = key.first.second;
            one.buyer = key.second;
            one.figures = std::move(figures);
        };
        if (row != counted) {
            mark(differ(Kind::holding_disagrees, key.first.first, where,
                        fmt::format("the buyer's row says {} units, the orders {}", row, counted)),
                 {row, counted});
        }
        const auto terms = terms_.find(key.first);
        if (terms == terms_.end()) return;
        const uint32_t limit = terms->second->units_per_buyer_max;
        if (counted + in_flight > limit) {
            mark(differ(Kind::holding_over_limit, key.first.first, where,
                        fmt::format("the buyer has {} units, {} are allowed", counted + in_flight, limit)),
                 {counted + in_flight, limit});
            const auto newest = newest_.find(key);
            if (newest != newest_.end()) counted_.differences.back().order = newest->second;
        }
    }

    const Records& records_;
    Counted counted_;
    std::map<OrderId, const OrderRecord*> orders_;
    std::map<PurchaseId, const OrderRecord*> orders_by_purchase_, holders_;
    std::map<PurchaseId, const PurchaseRecord*> purchases_;
    std::map<ItemKey, Sums> sums_;
    std::map<ItemKey, const Item*> terms_;
    std::map<ItemKey, bool> takes_at_acceptance_;
    std::map<HoldingKey, uint64_t> holdings_, holdings_in_flight_;
    std::map<HoldingKey, OrderId> newest_;  // that has units
    std::map<std::tuple<ItemKey, uint64_t, uint32_t, uint64_t>, PurchaseId>
        numbers_;  // epoch, bucket, number
};

}  // namespace

Counted count(const Records& records) {
    return Recount(records).run();
}

}  // namespace doorbuster::audit
