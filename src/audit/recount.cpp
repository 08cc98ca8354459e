#include "audit/recount.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

namespace doorbuster::audit {

namespace {

using ItemKey = std::pair<SaleId, ItemId>;
using HoldingKey = std::pair<ItemKey, BuyerId>;

std::string text_of(const ItemKey& key) {
    return fmt::format("{}/{}", key.first.view(), key.second.view());
}

struct Sums {
    uint64_t held = 0, sold = 0, in_flight = 0;
};

class Recount {
public:
    explicit Recount(const Records& records) : records_(records) {}

    std::vector<Difference> run() {
        count_orders();
        compare_purchases();
        compare_ledger();
        compare_stock();
        compare_holdings();
        return std::move(differences_);
    }

private:
    void differ(Kind kind, std::string where, std::string detail) {
        differences_.push_back({kind, std::move(where), std::move(detail)});
    }

    void count_orders() {
        for (const OrderRecord& order : records_.orders) {
            if (!orders_.emplace(order.purchase, &order).second) {
                differ(Kind::order_twice, order.purchase.hex(), "has more than one order");
            }
            const ItemKey item{order.sale, order.item};
            switch (order.state) {
                case OrderState::pending_payment:
                case OrderState::paying:
                case OrderState::voiding:
                    sums_[item].held += order.units;
                    break;
                case OrderState::paid:
                    sums_[item].sold += order.units;
                    break;
                case OrderState::expired:
                case OrderState::cancelled:
                case OrderState::reinstating:
                case OrderState::refunding:
                case OrderState::refunded:
                    continue;
            }
            holdings_[{item, order.buyer}] += order.units;
        }
    }

    void compare_purchases() {
        for (const PurchaseRecord& purchase : records_.purchases) {
            const PurchaseId& id = purchase.acceptance.purchase;
            purchases_.emplace(id, &purchase);
            const auto order = orders_.find(id);
            if (order == orders_.end()) {
                if (purchase.state == PurchaseState::ordered) {
                    differ(Kind::purchase_without_order, id.hex(), "is said to be ordered");
                }
                continue;
            }
            const OrderRecord& own = *order->second;
            const bool is_active = own.state != OrderState::expired && own.state != OrderState::cancelled &&
                                   own.state != OrderState::refunded;
            if (own.buyer != purchase.acceptance.buyer || own.units != purchase.acceptance.units ||
                own.item != purchase.item || own.sale != purchase.sale || purchase.order != own.id ||
                is_active != (purchase.state == PurchaseState::ordered)) {
                differ(Kind::order_disagrees, id.hex(),
                       fmt::format("order {}", static_cast<int64_t>(own.id)));
            }
        }
        for (const auto& [id, order] : orders_) {
            if (!purchases_.contains(id)) {
                differ(Kind::order_without_purchase, id.hex(),
                       fmt::format("order {}", static_cast<int64_t>(order->id)));
            }
        }
    }

    void compare_ledger() {
        std::set<uint64_t> buried;
        for (const DeadLetter& letter : records_.dead_letters) buried.insert(letter.position);
        std::map<PurchaseId, uint64_t> positions;
        std::map<ItemKey, uint64_t> sequences;
        for (const LedgerRecord& record : records_.ledger) {
            if (!record.entry) {
                if (record.position <= records_.position && !buried.contains(record.position)) {
                    differ(Kind::ledger_unplaced, fmt::format("position {}", record.position),
                           "cannot be read");
                }
                continue;
            }
            const Acceptance& acceptance = record.entry->acceptance;
            const ItemKey item{record.entry->sale, record.entry->item};
            if (!positions.emplace(acceptance.purchase, record.position).second) {
                differ(Kind::ledger_twice, acceptance.purchase.hex(),
                       fmt::format("position {}", record.position));
            }
            uint64_t& last = sequences[item];
            if (acceptance.sequence <= last) {
                differ(Kind::sequence_order, text_of(item),
                       fmt::format("{} behind {}", acceptance.sequence, last));
            } else if (acceptance.sequence != last + 1) {
                differ(Kind::sequence_gap, text_of(item),
                       fmt::format("{} behind {}", acceptance.sequence, last));
            }
            last = std::max(last, acceptance.sequence);
            if (purchases_.contains(acceptance.purchase)) continue;
            if (record.position > records_.position) {
                sums_[item].in_flight += acceptance.units;
                holdings_in_flight_[{item, acceptance.buyer}] += acceptance.units;
            } else if (!buried.contains(record.position)) {
                differ(Kind::ledger_unplaced, acceptance.purchase.hex(),
                       fmt::format("position {}", record.position));
            }
        }
        for (const auto& [id, purchase] : purchases_) {
            if (!positions.contains(id))
                differ(Kind::purchase_without_ledger, id.hex(), "has no ledger record");
        }
    }

    void compare_stock() {
        for (const SaleRecord& record : records_.sales) {
            for (size_t i = 0; i < record.sale.items.size(); ++i) {
                const ItemKey item{record.sale.id, record.sale.items[i].id};
                const Stock& stock = record.stock[i];
                const Sums sums = sums_[item];
                if (uint64_t{stock.units_available} + stock.units_held + stock.units_sold !=
                    stock.units_total) {
                    differ(Kind::stock_sum, text_of(item),
                           fmt::format("{} + {} + {} is not {}", stock.units_available, stock.units_held,
                                       stock.units_sold, stock.units_total));
                }
                if (stock.units_held != sums.held) {
                    differ(Kind::stock_held, text_of(item),
                           fmt::format("stock row {}, orders {}", stock.units_held, sums.held));
                }
                if (stock.units_sold != sums.sold) {
                    differ(Kind::stock_sold, text_of(item),
                           fmt::format("stock row {}, orders {}", stock.units_sold, sums.sold));
                }
                if (sums.held + sums.sold + sums.in_flight > stock.units_total) {
                    differ(Kind::oversold, text_of(item),
                           fmt::format("{} promised of {}", sums.held + sums.sold + sums.in_flight,
                                       stock.units_total));
                }
                limits_[item] = record.sale.items[i].units_per_buyer_max;
            }
        }
    }

    void compare_holdings() {
        std::map<HoldingKey, uint64_t> rows;
        for (const Holding& row : records_.holdings) rows[{{row.sale, row.item}, row.buyer}] += row.units;
        auto compare = [&](const HoldingKey& key) {
            const uint64_t row = rows.contains(key) ? rows[key] : 0;
            const uint64_t counted = holdings_.contains(key) ? holdings_[key] : 0;
            const uint64_t in_flight = holdings_in_flight_.contains(key) ? holdings_in_flight_[key] : 0;
            const std::string where = fmt::format("{} {}", text_of(key.first), key.second.view());
            if (row != counted) {
                differ(Kind::holding_disagrees, where, fmt::format("row {}, orders {}", row, counted));
            }
            const auto limit = limits_.find(key.first);
            if (limit != limits_.end() && counted + in_flight > limit->second) {
                differ(Kind::over_limit, where, fmt::format("{} of {}", counted + in_flight, limit->second));
            }
        };
        std::set<HoldingKey> keys;
        for (const auto& [key, units] : rows) keys.insert(key);
        for (const auto& [key, units] : holdings_) keys.insert(key);
        for (const auto& [key, units] : holdings_in_flight_) keys.insert(key);
        for (const HoldingKey& key : keys) compare(key);
    }

    const Records& records_;
    std::vector<Difference> differences_;
    std::map<PurchaseId, const OrderRecord*> orders_;
    std::map<PurchaseId, const PurchaseRecord*> purchases_;
    std::map<ItemKey, Sums> sums_;
    std::map<ItemKey, uint32_t> limits_;
    std::map<HoldingKey, uint64_t> holdings_, holdings_in_flight_;
};

}  // namespace

std::string_view name_of(Kind kind) {
    static constexpr std::array<std::string_view, kinds> names = {"stock_sum",
                                                                  "stock_held",
                                                                  "stock_sold",
                                                                  "oversold",
                                                                  "ledger_unplaced",
                                                                  "ledger_twice",
                                                                  "purchase_without_ledger",
                                                                  "purchase_without_order",
                                                                  "order_without_purchase",
                                                                  "order_twice",
                                                                  "order_disagrees",
                                                                  "holding_disagrees",
                                                                  "over_limit",
                                                                  "sequence_gap",
                                                                  "sequence_order"};
    return names[static_cast<size_t>(kind)];
}

std::vector<Difference> recount(const Records& records) {
    return Recount(records).run();
}

}  // namespace doorbuster::audit
