#include "audit/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "audit/takes.hpp"
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
    uint64_t position = 0, epoch = 0;  // the worker's and the stock row's by then

    bool may_precede(const LedgerRecord& record) const {
        return record.entry->epoch == 0 ? position < record.position : epoch <= record.entry->epoch;
    }
};

constexpr std::array<std::string_view, 2> not_compared_across_epochs = {
    "whether, within one epoch, a unit was given back before it was taken again",
    "numbers without a record: their takes never came to the ledger, and nobody was told yes for them"};

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

    // `was_cancelled`: by the worker, explicitly; it never became an order.
    void decide(const LedgerRecord& record, bool was_cancelled) {
        const LedgerEntry& entry = *record.entry;
        const Acceptance& wanted = entry.acceptance;
        Instant& last = last_at_[{entry.epoch, entry.bucket}];
        if (wanted.accepted_at < last) {
            accepted_.push_back({wanted, entry.epoch});
            return mismatch(
                fmt::format("position {}: its time lies before the one before it", record.position));
        }
        last = wanted.accepted_at;
        const Book::ReserveCommand command{wanted.purchase, wanted.buyer, wanted.units,
                                           std::max(wanted.accepted_at, book_.last_command_at()),
                                           entry.replaces.has_value()};
        Book::ReserveAnswer answer = book_.reserve(command);
        while (answer.outcome != ReserveOutcome::accepted && apply_next(&record)) {
            answer = book_.reserve(command);
        }
        accepted_.push_back({wanted, entry.epoch});
        if (answer.outcome == ReserveOutcome::accepted) {
            if (entry.epoch != 0 || answer.sequence == wanted.sequence) return;
            return mismatch(
                fmt::format("position {}, purchase {}: the book gives it number {}, the ledger {}",
                            record.position, wanted.purchase.hex(), answer.sequence, wanted.sequence));
        }
        if (entry.epoch != 0 && was_cancelled) {
            refused_.insert(wanted.purchase);
        } else {
            mismatch(fmt::format("position {}, purchase {}: the book answers {}", record.position,
                                 wanted.purchase.hex(), name_of(answer.outcome)));
        }
    }

    void finish() {
        while (apply_next(nullptr)) continue;
        CHECK(moves_.empty() && cancelled_.empty());  // each is of a purchase that was fed
    }

    void put_into(Outcome& outcome) {
        put_stock(outcome, item_, book_.stock());
        for (const auto& [one, epoch] : accepted_) {
            if (refused_.contains(one.purchase)) {
                put_purchase(outcome, item_, one, HoldState::finished);
                continue;
            }
            const auto answer =
                book_.reserve({one.purchase, one.buyer, one.units, book_.last_command_at(), true});
            if (answer.outcome != ReserveOutcome::repeated) continue;  // told above
            // Redis gave the number and the time where there is an epoch.
            put_purchase(outcome, item_,
                         {one.purchase, one.buyer, one.units, epoch == 0 ? answer.sequence : one.sequence,
                          epoch == 0 ? answer.accepted_at : one.accepted_at},
                         answer.state);
            put_buyer(outcome, item_, one.buyer, book_.buyer_units(one.buyer));
        }
    }

private:
    // Before this acceptance, or after all of them. False if there is none that could have been.
    bool apply_next(const LedgerRecord* before) {
        if (!cancelled_.empty() && is_accepted(cancelled_.front())) {
            const PurchaseId purchase = cancelled_.front();
            cancelled_.pop_front();
            ++report_.moves;
            if (!refused_.contains(purchase)) follow(book_.release(purchase), purchase);
            return true;
        }
        if (moves_.empty() || (before != nullptr && !moves_.front().may_precede(*before))) return false;
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
        while (indexed_ < accepted_.size()) known_.insert(accepted_[indexed_++].acceptance.purchase);
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
    struct Accepted {
        Acceptance acceptance;
        uint64_t epoch;
    };
    std::vector<Accepted> accepted_;
    std::set<PurchaseId> known_;
    std::set<PurchaseId> refused_;                              // by this book, as by the worker
    std::map<std::pair<uint64_t, uint32_t>, Instant> last_at_;  // by epoch and bucket
    size_t indexed_ = 0;
    Replayed& report_;
};

class Replay {
public:
    explicit Replay(const Records& records)
        : records_(records), sale_(records.sales.front()), weights_(weigh(records.ledger)) {
        report_.sale = sale_.sale.id;
        report_.position = records.position.records();
        for (const PurchaseRecord& one : records.purchases) purchases_.emplace(one.acceptance.purchase, &one);
    }

    Replayed run() {
        make_books();
        sort_takes();
        hand_moves_out();
        for (const LedgerRecord* record : takes_) {
            const auto purchase = purchases_.find(record->entry->acceptance.purchase);
            const bool was_cancelled = purchase != purchases_.end() && !purchase->second->order;
            items_.at(record->entry->item).decide(*record, was_cancelled);
        }
        Outcome replayed;
        for (auto& [item, one] : items_) {
            one.finish();
            one.put_into(replayed);
        }
        for (const LedgerRecord* record : late_) put_late(replayed, *record);
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

    // What the workers have passed and counts, in the order of decision.
    void sort_takes() {
        std::map<std::tuple<ItemId, uint64_t, uint32_t>, std::set<uint64_t>> numbers;  // epoch, bucket
        for (size_t i = 0; i < records_.ledger.size(); ++i) {
            const LedgerRecord& record = records_.ledger[i];
            if (!record.entry) continue;
            const LedgerEntry& entry = *record.entry;
            if (entry.epoch != 0)
                numbers[{entry.item, entry.epoch, entry.bucket}].insert(entry.acceptance.sequence);
            if (!records_.position.covers(record.position)) {
                ++report_.in_flight;
                continue;
            }
            if (!items_.contains(entry.item)) continue;  // a dead letter for an item that never was
            ++report_.ledger_records;
            // One that was taken twice is for the book to refuse.
            if (weights_[i] == Weight::counts || weights_[i] == Weight::taken_twice)
                takes_.push_back(&record);
            if (weights_[i] == Weight::late) late_.push_back(&record);
        }
        report_.late = late_.size();
        for (const auto& [of, given] : numbers) {
            const uint64_t last = *given.rbegin();
            report_.numbers_missing += last - std::min<uint64_t>(last, given.size());
        }
        if (!numbers.empty())
            report_.not_compared.assign(not_compared_across_epochs.begin(), not_compared_across_epochs.end());
        // Where there is one book, its ledger has the order of decision.
        std::stable_sort(takes_.begin(), takes_.end(), [](const LedgerRecord* a, const LedgerRecord* b) {
            const auto order = [](const LedgerEntry& entry) {
                return std::pair(entry.epoch, entry.epoch == 0 ? 0 : entry.acceptance.sequence);
            };
            return order(*a->entry) < order(*b->entry);
        });
    }

    // It took nothing. What waits for the next SEAL has no stored outcome yet.
    void put_late(Outcome& into, const LedgerRecord& record) const {
        const LedgerEntry& entry = *record.entry;
        if (purchases_.contains(entry.acceptance.purchase))
            put_purchase(into, entry.item, entry.acceptance, HoldState::finished);
    }

    void hand_moves_out() {
        std::set<std::pair<ItemId, PurchaseId>> fed, too_late;
        for (const LedgerRecord* one : takes_) fed.emplace(one->entry->item, one->entry->acceptance.purchase);
        for (const LedgerRecord* one : late_)
            too_late.emplace(one->entry->item, one->entry->acceptance.purchase);
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
            found->second.add({move.kind, move.purchase, move.units, move.position, move.epoch});
        }
        // A cancellation moved no unit of the stock row, which had never given one, but the
        // book's came back to it.
        for (const PurchaseId& one : records_.cancellations) {
            const auto purchase = purchases_.find(one);
            if (purchase == purchases_.end() || too_late.contains({purchase->second->item, one})) continue;
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
    const std::vector<Weight> weights_;
    std::map<PurchaseId, const PurchaseRecord*> purchases_;
    std::vector<const LedgerRecord*> takes_, late_;
    Replayed report_;
    std::map<ItemId, ItemReplay> items_;
};

}  // namespace

Replayed replay(const Records& records) {
    CHECK(records.sales.size() == 1);
    return Replay(records).run();
}

std::string json_of(const Replayed& replayed) {
    boost::json::array mismatches, not_compared;
    for (const std::string_view one : replayed.not_compared) not_compared.emplace_back(one);
    for (const std::string& one : replayed.mismatches) mismatches.emplace_back(one);
    return boost::json::serialize(boost::json::object{{"sale", replayed.sale.view()},
                                                      {"position", replayed.position},
                                                      {"ledger_records", replayed.ledger_records},
                                                      {"in_flight", replayed.in_flight},
                                                      {"moves", replayed.moves},
                                                      {"late", replayed.late},
                                                      {"numbers_missing", replayed.numbers_missing},
                                                      {"not_compared", std::move(not_compared)},
                                                      {"agrees", replayed.agrees()},
                                                      {"digest_replayed", replayed.digest_replayed},
                                                      {"digest_stored", replayed.digest_stored},
                                                      {"mismatches_total", replayed.mismatches_total},
                                                      {"mismatches", std::move(mismatches)}});
}

}  // namespace doorbuster::audit
