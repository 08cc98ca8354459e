// How the orders side reaches books that are in Redis.
#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.hpp"
#include "store_cluster/cluster_books.hpp"

namespace doorbuster {

void ClusterBooks::reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) {
    {
        std::unique_lock lock(room_mutex_);
        room_.wait(lock,
                   [&] { return reinstatements_ < options_.reinstatements_max || stage_ != Stage::running; });
        if (stage_ == Stage::running) {
            ++reinstatements_;
            boost::asio::post(loop_, [this, asked, told = std::move(answered)]() mutable {
                reinstate_now(asked, std::move(told));
            });
            return;
        }
    }
    answered({});  // nobody decides any more, or not yet
}

void ClusterBooks::reinstate_now(const Reinstatement& asked,
                                 std::function<void(const Reinstated&)> answered) {
    const auto done = [this, answered = std::move(answered)](const ClusterAcceptor::Outcome& outcome) {
        const bool is_decided = outcome.verdict == Verdict::decided;
        if (is_decided && outcome.answer.outcome == ReserveOutcome::accepted) {
            acceptances_.fetch_add(1, std::memory_order_relaxed);
            if (hooks_.on_append) hooks_.on_append();
        }
        answered(is_decided ? Reinstated{outcome.answer.outcome, outcome.answer.state} : Reinstated{});
        {
            std::lock_guard lock(room_mutex_);
            --reinstatements_;
        }
        room_.notify_all();
    };
    Entry* entry = find(asked.sale, asked.item);
    if (entry == nullptr) return done({Verdict::decided, {ReserveOutcome::not_open}});
    // The book went with the sale, and does not come back: whoever waited for it for ever would have paid for
    // nothing.
    if (entry->phase == Phase::closed && entry->bucket->lease_holds() && !entry->bucket->holds())
        return done({Verdict::decided, {ReserveOutcome::ended}});
    entry->acceptor->reserve({asked.fresh, asked.buyer, asked.units, asked.replaces}, done);
}

void ClusterBooks::control(ControlCommand command, std::function<void()> applied) {
    {
        std::unique_lock lock(room_mutex_);
        // Before the start nobody makes room, and the loop itself must not wait for itself.
        const bool may_wait = stage_ == Stage::running && !loop_.get_executor().running_in_this_thread();
        if (may_wait) {
            room_.wait(lock,
                       [&] { return controls_ < options_.control_capacity || stage_ != Stage::running; });
        }
        if (stage_ != Stage::stopped) {
            ++controls_;
            boost::asio::post(loop_, [this, what = std::move(command), told = std::move(applied)]() mutable {
                apply(what, std::move(told));
                {
                    std::lock_guard held(room_mutex_);
                    --controls_;
                }
                room_.notify_all();
            });
            return;
        }
    }
    // What the command says is recorded; whoever starts next sees it.
    if (applied) applied();
}

struct ClusterBooks::Apply {
    ClusterBooks& books;
    std::function<void()>& applied;  // left behind: there is nothing to wait for

    void operator()(const OpenBook& open) const {
        const auto index = static_cast<size_t>(open.slot);
        if (books.entries_.size() <= index) books.entries_.resize(index + 1);
        CHECK(books.entries_[index] == nullptr);
        auto bucket = std::make_shared<ClusterBucket>(BookBucket{open.sale, open.item}, books.hooks_.doubted);
        auto acceptor = std::make_shared<ClusterAcceptor>(
            ClusterAcceptor::Parts{books.loop_, *books.redis_, books.records_}, bucket, open.board);
        auto board = std::make_shared<ClusterBoard>(*books.redis_, bucket, open.board);
        auto words =
            std::make_shared<ClusterWords>(*books.redis_, bucket, board, books.options_.word_wait_max);
        books.entries_[index] = std::make_unique<Entry>(
            Entry{std::move(bucket), std::move(acceptor), std::move(board), std::move(words), open.phase});
        books.slots_[{open.sale, open.item}] = open.slot;
        open.board->show_figures(open.stock);
        Entry& entry = *books.entries_[index];
        books.lease_to(entry);
        entry.words->tell({open.version, open.phase, open.terms}, std::exchange(applied, {}));
    }
    void operator()(const SetTerms& set) const {
        Entry* entry = books.at(set.slot);
        if (entry == nullptr) return;
        entry->phase = set.phase;
        entry->words->tell({set.version, set.phase, set.terms}, std::exchange(applied, {}));
    }
    void operator()(const CloseBook& close) const {
        Entry* entry = books.at(close.slot);
        if (entry == nullptr) return;
        const BookBucket& id = entry->bucket->id();
        if (const auto slot = books.slots_.find({id.sale, id.item});
            slot != books.slots_.end() && slot->second == close.slot) {
            books.slots_.erase(slot);
        }
        entry->board->close();
        entry->words->close();
        books.closed_.push_back(entry->acceptor);
        books.entries_[static_cast<size_t>(close.slot)].reset();
    }
    void operator()(const SellPurchase& sell) const {
        if (Entry* entry = books.find(sell.sale, sell.item)) entry->words->paid(sell.purchase);
    }
    // The units travel as release rows.
    void operator()(const ReleasePurchase&) const {}
    void operator()(const RestockItem&) const {}
    // The repair has asked for a rebuild in its own transaction.
    void operator()(const TakeRecord&) const {}
    void operator()(const RecountBook&) const {}
};

void ClusterBooks::apply(ControlCommand& command, std::function<void()> applied) {
    std::visit(Apply{*this, applied}, command);
    if (applied) applied();
}

}  // namespace doorbuster
