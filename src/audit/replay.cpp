#include "audit/replay.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/check.hpp"
#include "base/crypto.hpp"

namespace doorbuster::audit {

namespace {

using Outcome = std::map<std::string, std::string>;  // what, and how it ended

constexpr std::array<std::string_view, 4> hold_names = {"held", "sold", "finished", "open"};

std::string digest_of(const Outcome& outcome) {
    std::string text;
    for (const auto& [what, how] : outcome)
        text += fmt::format("{} {}={} {}\n", what.size(), what, how.size(), how);
    const auto hex = hex_of(sha256(text));
    return std::string(hex.data(), hex.size());
}

void put_stock(Outcome& into, const ItemId& item, const Stock& stock) {
    into[fmt::format("item {}", item.view())] =
        fmt::format("{} units in all, {} available, {} held, {} sold", stock.units_total,
                    stock.units_available, stock.units_held, stock.units_sold);
}
void put_purchase(Outcome& into, const ItemId& item, const Acceptance& acceptance, HoldState hold) {
    into[fmt::format("purchase {}", acceptance.purchase.hex())] = fmt::format(
        "{} of {}, number {}, at {}, {} for {}", acceptance.units, item.view(), acceptance.sequence,
        to_ms(acceptance.accepted_at), hold_names[static_cast<size_t>(hold)], acceptance.buyer.view());
}
void put_buyer(Outcome& into, const ItemId& item, const BuyerId& buyer, uint64_t units) {
    if (units > 0)
        into[fmt::format("buyer of {}: {}", item.view(), buyer.view())] = fmt::format("{} units", units);
}

std::string_view name_of(ReserveOutcome outcome) {
    static constexpr std::array<std::string_view, 9> names = {
        "accepted", "repeated", "sold_out",     "limit_reached",   "not_open",
        "ended",    "paused",   "key_mismatch", "sold_out_for_now"};
    return names[static_cast<size_t>(outcome)];
}

struct Move {
    StockMoveKind kind{};
    std::optional<PurchaseId> purchase;
    int64_t units = 0;
    uint64_t position = 0;  // the worker's by then
};

// One item's book and what waits to reach it.
class ItemReplay {
public:
    ItemReplay(const Sale& sale, const Item& item, uint32_t units_at_first, Replayed& report)
        : item_(item.id),
          book_({.units_per_buyer_max = item.units_per_buyer_max,
                 .opens_at = sale.opens_at,
                 .closes_at = sale.closes_at,
                 .policy = sale.stock_policy,
                 .orders_max = item.orders_max},
                {.units_total = units_at_first, .units_available = units_at_first}, Phase::selling),
          report_(report) {}

    // In the order of their commits.
    void add(const Move& move) { moves_.push_back(move); }
    void cancel(const PurchaseId& purchase) { cancelled_.push_back(purchase); }

    void decide(const LedgerRecord& record) {
        const LedgerEntry& entry = *record.entry;
        const Acceptance& wanted = entry.acceptance;
        if (wanted.accepted_at < book_.last_command_at()) {
            accepted_.push_back(wanted);
            return mismatch(
                fmt::format("position {}: its time lies before the one before it", record.position));
        }
        const Book::ReserveCommand command{wanted.purchase, wanted.buyer, wanted.units, wanted.accepted_at,
                                           entry.replaces.has_value()};
        Book::ReserveAnswer answer = book_.reserve(command);
        while (answer.outcome != ReserveOutcome::accepted && apply_next(record.position)) {
            answer = book_.reserve(command);
        }
        accepted_.push_back(wanted);
        if (answer.outcome != ReserveOutcome::accepted) {
            mismatch(fmt::format("position {}, purchase {}: the book answers {}", record.position,
                                 wanted.purchase.hex(), name_of(answer.outcome)));
        } else if (answer.sequence != wanted.sequence) {
            mismatch(fmt::format("position {}, purchase {}: the book gives it number {}, the ledger {}",
                                 record.position, wanted.purchase.hex(), answer.sequence, wanted.sequence));
        }
    }

    void finish() {
        while (apply_next(std::numeric_limits<uint64_t>::max())) continue;
        CHECK(moves_.empty() && cancelled_.empty());  // each is of a purchase that was fed
    }

    void put_into(Outcome& outcome) {
        put_stock(outcome, item_, book_.stock());
        for (const Acceptance& one : accepted_) {
            const auto answer =
                book_.reserve({one.purchase, one.buyer, one.units, book_.last_command_at(), true});
            if (answer.outcome != ReserveOutcome::repeated) continue;  // told above
            put_purchase(outcome, item_,
                         {one.purchase, one.buyer, one.units, answer.sequence, answer.accepted_at},
                         answer.state);
            put_buyer(outcome, item_, one.buyer, book_.buyer_units(one.buyer));
        }
    }

private:
    // Before the acceptance at this position. False if there is none that could have been.
    bool apply_next(uint64_t before) {
        if (!cancelled_.empty() && is_accepted(cancelled_.front())) {
            const PurchaseId purchase = cancelled_.front();
            cancelled_.pop_front();
            ++report_.moves;
            follow(book_.release(purchase), purchase);
            return true;
        }
        if (moves_.empty() || moves_.front().position >= before) return false;
        const Move move = moves_.front();
        if (move.purchase && !is_accepted(*move.purchase)) return false;
        moves_.pop_front();
        ++report_.moves;
        switch (move.kind) {
            case StockMoveKind::restocked:
                book_.restock(static_cast<uint32_t>(move.units));
                break;
            case StockMoveKind::sold:
                follow(book_.sell(*move.purchase), *move.purchase);
                break;
            case StockMoveKind::released:
                follow(book_.release(*move.purchase), *move.purchase);
                break;
            case StockMoveKind::repaired:  // the row followed the orders again; the book never left them
                break;
        }
        return true;
    }

    void follow(bool done, const PurchaseId& purchase) {
        if (!done) mismatch(fmt::format("the book cannot follow a move of purchase {}", purchase.hex()));
    }

    bool is_accepted(const PurchaseId& purchase) {
        while (indexed_ < accepted_.size()) known_.insert(accepted_[indexed_++].purchase);
        return known_.contains(purchase);
    }

    void mismatch(std::string text) {
        ++report_.mismatches_total;
        if (report_.mismatches.size() < Replayed::mismatches_max)
            report_.mismatches.push_back(fmt::format("{}: {}", item_.view(), text));
    }

    const ItemId item_;
    Book book_;
    std::deque<Move> moves_;
    std::deque<PurchaseId> cancelled_;
    std::vector<Acceptance> accepted_;
    std::set<PurchaseId> known_;
    size_t indexed_ = 0;
    Replayed& report_;
};

class Replay {
public:
    explicit Replay(const Records& records) : records_(records), sale_(records.sales.front()) {
        report_.sale = sale_.sale.id;
        report_.position = records.position;
    }

    Replayed run() {
        make_books();
        hand_moves_out();
        for (const LedgerRecord& record : records_.ledger) {
            if (!record.entry) continue;
            if (record.position > records_.position) {
                ++report_.in_flight;
                continue;
            }
            const auto found = items_.find(record.entry->item);
            if (found == items_.end()) continue;  // a dead letter for an item that never was
            ++report_.ledger_records;
            found->second.decide(record);
        }
        Outcome replayed;
        for (auto& [item, one] : items_) {
            one.finish();
            one.put_into(replayed);
        }
        compare(replayed, stored_outcome());
        return std::move(report_);
    }

private:
    void make_books() {
        for (size_t i = 0; i < sale_.sale.items.size(); ++i) {
            const Item& item = sale_.sale.items[i];
            int64_t at_first = sale_.stock[i].units_total;
            for (const StockMove& move : records_.stock_moves) {
                if (move.kind == StockMoveKind::restocked && move.item == item.id) at_first -= move.units;
            }
            if (at_first < 0) {
                mismatch(fmt::format("{}: more units were added than there are", item.id.view()));
                at_first = 0;
            }
            items_.try_emplace(item.id, sale_.sale, item, static_cast<uint32_t>(at_first), report_);
        }
    }

    void hand_moves_out() {
        std::set<std::pair<ItemId, PurchaseId>> fed;
        for (const LedgerRecord& one : records_.ledger) {
            if (one.entry && one.position <= records_.position)
                fed.emplace(one.entry->item, one.entry->acceptance.purchase);
        }
        const auto is_fed = [&](const ItemId& item, const PurchaseId& purchase) {
            if (fed.contains({item, purchase})) return true;
            mismatch(
                fmt::format("units of purchase {} moved, which the ledger does not know", purchase.hex()));
            return false;
        };
        for (const StockMove& move : records_.stock_moves) {
            const auto found = items_.find(move.item);
            if (found == items_.end() || move.kind == StockMoveKind::repaired) continue;
            if (move.kind != StockMoveKind::restocked &&
                (!move.purchase || !is_fed(move.item, *move.purchase)))
                continue;
            if (move.kind == StockMoveKind::restocked && (move.units < 0 || move.units > units_max)) continue;
            found->second.add({move.kind, move.purchase, move.units, move.position});
        }
        // A cancellation moved no unit of the stock row, which had never given one, but the
        // book's came back to it.
        std::map<PurchaseId, const PurchaseRecord*> purchases;
        for (const PurchaseRecord& one : records_.purchases) purchases.emplace(one.acceptance.purchase, &one);
        for (const PurchaseId& one : records_.cancellations) {
            const auto purchase = purchases.find(one);
            if (purchase == purchases.end()) continue;
            const auto found = items_.find(purchase->second->item);
            if (found != items_.end() && is_fed(found->first, one)) found->second.cancel(one);
        }
    }

    Outcome stored_outcome() const {
        Outcome stored;
        for (size_t i = 0; i < sale_.sale.items.size(); ++i)
            put_stock(stored, sale_.sale.items[i].id, sale_.stock[i]);
        for (const PurchaseRecord& one : records_.purchases) {
            if (items_.contains(one.item)) put_purchase(stored, one.item, one.acceptance, one.hold);
        }
        for (const Holding& one : records_.holdings) put_buyer(stored, one.item, one.buyer, one.units);
        return stored;
    }

    void compare(const Outcome& replayed, const Outcome& stored) {
        report_.digest_replayed = digest_of(replayed);
        report_.digest_stored = digest_of(stored);
        for (const auto& [what, how] : replayed) {
            const auto found = stored.find(what);
            if (found == stored.end()) {
                mismatch(fmt::format("{}: replayed {}, stored nothing", what, how));
            } else if (found->second != how) {
                mismatch(fmt::format("{}: replayed {}, stored {}", what, how, found->second));
            }
        }
        for (const auto& [what, how] : stored) {
            if (!replayed.contains(what)) mismatch(fmt::format("{}: replayed nothing, stored {}", what, how));
        }
    }

    void mismatch(std::string text) {
        ++report_.mismatches_total;
        if (report_.mismatches.size() < Replayed::mismatches_max)
            report_.mismatches.push_back(std::move(text));
    }

    const Records& records_;
    const SaleRecord& sale_;
    Replayed report_;
    std::map<ItemId, ItemReplay> items_;
};

}  // namespace

Replayed replay(const Records& records) {
    CHECK(records.sales.size() == 1);
    return Replay(records).run();
}

std::string json_of(const Replayed& replayed) {
    boost::json::array mismatches;
    for (const std::string& one : replayed.mismatches) mismatches.emplace_back(one);
    return boost::json::serialize(boost::json::object{{"sale", replayed.sale.view()},
                                                      {"position", replayed.position},
                                                      {"ledger_records", replayed.ledger_records},
                                                      {"in_flight", replayed.in_flight},
                                                      {"moves", replayed.moves},
                                                      {"agrees", replayed.agrees()},
                                                      {"digest_replayed", replayed.digest_replayed},
                                                      {"digest_stored", replayed.digest_stored},
                                                      {"mismatches_total", replayed.mismatches_total},
                                                      {"mismatches", std::move(mismatches)}});
}

}  // namespace doorbuster::audit
