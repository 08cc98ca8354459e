// Shard: decides a batch of purchases and makes the accepted ones durable.
//
// The deciding and the recording of one batch, without a thread or a queue, so that
// the server's owner thread and the simulator run the same code.
//
//   1. every command is put to its book, reinstatements before purchases
//   2. refusals that rest on no acceptance are handed back
//   3. the accepted ones are appended to the ledger in one transaction
//   4. only then: the boards show it, and every other answer is handed back
//
// If 3 fails, those of 4 hear `unknown` and the shard must not be used again.
//
// Thread safety: none.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <span>
#include <vector>

#include "shard/command.hpp"
#include "store/book_control.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"
#include "store/purchase_desk.hpp"

namespace doorbuster {

class Shard {
public:
    explicit Shard(Ledger& ledger) : ledger_(ledger) {}

    void set_sinks(std::vector<ReplySink*> sinks);

    // `now` may be earlier than the last batch's; the books see max(now, last).
    [[nodiscard]] StoreResult<void> decide(std::span<const PurchaseCommand>, Instant now,
                                           std::span<const ReinstateCommand> = {});
    void apply(const ControlCommand&);

    // After a failed decide: what still comes hears `unknown`.
    void abandon(std::span<const PurchaseCommand>, std::span<const ReinstateCommand> = {});

    // Before the first batch: brings the opened books to what the records say, the
    // placed purchases first, then the ledger behind the worker's position.
    void restore(const PurchaseRecord&);
    void restore(const LedgerRecord&);

    // Nothing waits: upkeep of the ledger.
    [[nodiscard]] StoreResult<void> idle() { return ledger_.idle(); }

    const Book* book(ItemSlot) const;
    // Of the last batch, reinstatements included.
    size_t last_acceptances() const { return accepted_.size(); }

private:
    struct Entry {
        SaleId sale;
        ItemId item;
        Book book;
        std::shared_ptr<ItemBoard> board;
    };

    Entry* find(const SaleId&, const ItemId&);
    Reinstated decide_one(const Reinstatement&);
    void answer_rest(std::span<const PurchaseCommand>, std::span<const ReinstateCommand>, Verdict);
    void show_accepted();
    static void show(Entry&);
    void reply(const PurchaseCommand&, Verdict, const Book::ReserveAnswer&);
    void flush_replies();

    Ledger& ledger_;
    struct KeyHash : SeededHash {
        size_t operator()(const std::pair<SaleId, ItemId>& key) const {
            return fold(SeededHash::operator()(key.first), SeededHash::operator()(key.second) | 1);
        }
    };

    std::vector<std::unique_ptr<Entry>> entries_;  // by ItemSlot; null once closed
    boost::unordered_flat_map<std::pair<SaleId, ItemId>, ItemSlot, KeyHash> slots_;
    Instant last_now_{};

    // One batch's, kept to reuse their memory.
    std::vector<Book::ReserveAnswer> answers_;
    std::vector<Reinstated> reinstated_;
    std::vector<LedgerEntry> accepted_;
    std::vector<ItemSlot> changed_;
    std::vector<ReplySink*> sinks_;
    std::vector<std::vector<PurchaseReply>> replies_;  // by sink
};

}  // namespace doorbuster
