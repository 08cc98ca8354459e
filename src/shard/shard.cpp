#include "shard/shard.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/log.hpp"

namespace doorbuster {

namespace {

// A refusal that no acceptance of this batch can change stands at once. The others
// may rest on a unit that was taken a moment ago and is not durable yet: if that
// commit fails, "sold out" was not true.
bool rests_on_commit(ReserveOutcome outcome) {
    switch (outcome) {
        case ReserveOutcome::accepted:
        case ReserveOutcome::repeated:
        case ReserveOutcome::sold_out:
        case ReserveOutcome::sold_out_for_now:
        case ReserveOutcome::limit_reached:
        case ReserveOutcome::key_mismatch:
            return true;
        case ReserveOutcome::not_open:
        case ReserveOutcome::ended:
        case ReserveOutcome::paused:
            return false;
    }
    CHECK(false);
    return true;
}

}  // namespace

void Shard::set_sinks(std::vector<ReplySink*> sinks) {
    sinks_ = std::move(sinks);
    replies_.resize(sinks_.size());
}

StoreResult<void> Shard::decide(std::span<const PurchaseCommand> commands, Instant now,
                                std::span<const ReinstateCommand> reinstatements) {
    last_now_ = std::max(now, last_now_);
    answers_.clear();
    accepted_.clear();
    changed_.clear();
    reinstated_.clear();

    for (const ReinstateCommand& command : reinstatements) reinstated_.push_back(decide_one(command.asked));
    for (const PurchaseCommand& command : commands) {
        Entry* const found = entries_[static_cast<size_t>(command.slot)].get();
        if (found == nullptr) {  // closed while this one was on its way
            answers_.push_back({ReserveOutcome::not_open});
            reply(command, Verdict::decided, answers_.back());
            continue;
        }
        Entry& entry = *found;
        answers_.push_back(entry.book.reserve({command.purchase, command.buyer, command.units, last_now_}));
        const Book::ReserveAnswer& answer = answers_.back();
        if (answer.outcome == ReserveOutcome::accepted) {
            accepted_.push_back(
                {entry.sale,
                 entry.item,
                 {command.purchase, command.buyer, command.units, answer.sequence, answer.accepted_at}});
            changed_.push_back(command.slot);
        }
        if (!rests_on_commit(answer.outcome)) reply(command, Verdict::decided, answer);
    }
    if (accepted_.empty()) {
        // What the answers rest on was durable before this batch began.
        answer_rest(commands, reinstatements, Verdict::decided);
        return {};
    }
    flush_replies();

    const StoreResult<void> appended = ledger_.append(accepted_);
    const Verdict verdict = appended.has_error() ? Verdict::unknown : Verdict::decided;
    if (verdict == Verdict::decided) show_accepted();
    answer_rest(commands, reinstatements, verdict);
    return appended;
}

void Shard::answer_rest(std::span<const PurchaseCommand> commands,
                        std::span<const ReinstateCommand> reinstatements, Verdict verdict) {
    for (size_t i = 0; i < commands.size(); ++i) {
        if (rests_on_commit(answers_[i].outcome)) reply(commands[i], verdict, answers_[i]);
    }
    flush_replies();
    for (size_t i = 0; i < reinstatements.size(); ++i) {
        reinstatements[i].answered(verdict == Verdict::decided ? reinstated_[i] : Reinstated{});
    }
}

Reinstated Shard::decide_one(const Reinstatement& asked) {
    const auto slot = slots_.find({asked.sale, asked.item});
    if (slot == slots_.end()) return {.outcome = ReserveOutcome::not_open};
    Entry& entry = *entries_[static_cast<size_t>(slot->second)];
    const auto answer = entry.book.reserve({asked.fresh, asked.buyer, asked.units, last_now_, true});
    if (answer.outcome == ReserveOutcome::accepted) {
        accepted_.push_back({entry.sale,
                             entry.item,
                             {asked.fresh, asked.buyer, asked.units, answer.sequence, answer.accepted_at},
                             asked.replaces});
        changed_.push_back(slot->second);
    }
    return {.outcome = answer.outcome, .hold = answer.state};
}

void Shard::show_accepted() {
    const auto board_of = [&](size_t i) -> ItemBoard& {
        return *entries_[static_cast<size_t>(changed_[i])]->board;
    };
    for (size_t i = 0; i < accepted_.size(); ++i) {
        // A few ahead, since each of them lies somewhere else.
        if (const size_t ahead = i + 8; ahead < accepted_.size()) {
            const Acceptance& next = accepted_[ahead].acceptance;
            board_of(ahead).expect_winner(next.purchase, next.buyer);
        }
        const Acceptance& acceptance = accepted_[i].acceptance;
        board_of(i).add_winner(acceptance.purchase, acceptance.buyer);
    }
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const ItemSlot slot : changed_) show(*entries_[static_cast<size_t>(slot)]);
}

void Shard::show(Entry& entry) {
    entry.board->show_taken(entry.book.last_taken_at());
    entry.board->show(entry.book.stock(), entry.book.orders_full());
}

void Shard::abandon(std::span<const PurchaseCommand> commands,
                    std::span<const ReinstateCommand> reinstatements) {
    for (const PurchaseCommand& command : commands) reply(command, Verdict::unknown, {});
    flush_replies();
    for (const ReinstateCommand& command : reinstatements) command.answered({});
}

void Shard::reply(const PurchaseCommand& command, Verdict verdict, const Book::ReserveAnswer& answer) {
    replies_[command.sink].push_back({command.reply_to, command.purchase, verdict, answer});
}

void Shard::flush_replies() {
    for (size_t sink = 0; sink < sinks_.size(); ++sink) {
        if (replies_[sink].empty()) continue;
        sinks_[sink]->deliver(replies_[sink]);
        replies_[sink].clear();
    }
}

void Shard::apply(const ControlCommand& command) {
    struct Apply {
        Shard& shard;
        Entry& at(ItemSlot slot) const { return *shard.entries_[static_cast<size_t>(slot)]; }

        void operator()(const OpenBook& open) const {
            const auto index = static_cast<size_t>(open.slot);
            if (shard.entries_.size() <= index) shard.entries_.resize(index + 1);
            CHECK(shard.entries_[index] == nullptr);
            // Made in its place: a book does not move.
            shard.entries_[index].reset(
                new Entry{open.sale, open.item, Book(open.terms, open.stock, open.phase), open.board});
            shard.slots_[{open.sale, open.item}] = open.slot;
            show(at(open.slot));
        }
        void operator()(const CloseBook& close) const {
            std::unique_ptr<Entry>& entry = shard.entries_[static_cast<size_t>(close.slot)];
            shard.slots_.erase({entry->sale, entry->item});
            entry.reset();
        }
        void operator()(const ReleasePurchase& release) const {
            Entry* entry = shard.find(release.sale, release.item);
            // An item that nobody sells any more, or a release that was applied before.
            if (entry == nullptr || !entry->book.release(release.purchase)) return;
            show(*entry);
        }
        void operator()(const SellPurchase& sell) const {
            Entry* entry = shard.find(sell.sale, sell.item);
            if (entry == nullptr) return;  // an item that nobody sells any more
            if (!entry->book.sell(sell.purchase)) {
                // The orders are the authority; the next rebuild follows them.
                log_warn("a paid purchase does not fit its book", {{"purchase", sell.purchase.hex()}});
                return;
            }
            show(*entry);
        }
        void operator()(const RestockItem& restock) const {
            Entry& entry = at(restock.slot);
            entry.book.restock(restock.units);
            show(entry);
        }
        void operator()(const TakeRecord& take) const {
            Entry* entry = shard.find(take.entry.sale, take.entry.item);
            if (entry == nullptr) return;
            const PurchaseId& purchase = take.entry.acceptance.purchase;
            if (entry->book.apply(take.entry.acceptance))
                entry->board->add_winner(purchase, take.entry.acceptance.buyer);
            if (take.is_paid) (void)entry->book.sell(purchase);
            show(*entry);
        }
        void operator()(const RecountBook& recount) const {
            Entry* entry = shard.find(recount.sale, recount.item);
            if (entry == nullptr) return;
            entry->book.recount();
            show(*entry);
        }
        void operator()(const SetTerms& set) const {
            Entry& entry = at(set.slot);
            entry.book.set_terms(set.terms);
            entry.book.set_phase(set.phase);
            show(entry);
        }
    };
    std::visit(Apply{*this}, command);
}

Shard::Entry* Shard::find(const SaleId& sale, const ItemId& item) {
    const auto slot = slots_.find({sale, item});
    return slot == slots_.end() ? nullptr : entries_[static_cast<size_t>(slot->second)].get();
}

void Shard::restore(const PurchaseRecord& purchase) {
    Entry* entry = find(purchase.sale, purchase.item);
    if (entry == nullptr) return;  // a dead letter for an item that never was
    entry->book.restore(purchase.acceptance, purchase.hold);
    entry->board->show_taken(entry->book.last_taken_at());
    entry->board->add_winner(purchase.acceptance.purchase, purchase.acceptance.buyer);
    if (purchase.hold == HoldState::open) show(*entry);  // the others are in the stock it was opened with
    last_now_ = std::max(last_now_, purchase.acceptance.accepted_at);
}

void Shard::restore(const LedgerRecord& record) {
    Entry* entry = record.entry ? find(record.entry->sale, record.entry->item) : nullptr;
    if (entry == nullptr || !entry->book.apply(record.entry->acceptance)) {
        // The worker meets the same record: a dead letter, a cancellation, or one that is there already.
        log_warn("a ledger record does not fit its book", {{"position", record.position}});
        return;
    }
    entry->board->add_winner(record.entry->acceptance.purchase, record.entry->acceptance.buyer);
    show(*entry);
    last_now_ = std::max(last_now_, record.entry->acceptance.accepted_at);
}

const Book* Shard::book(ItemSlot slot) const {
    const auto index = static_cast<size_t>(slot);
    return index < entries_.size() && entries_[index] ? &entries_[index]->book : nullptr;
}

}  // namespace doorbuster
