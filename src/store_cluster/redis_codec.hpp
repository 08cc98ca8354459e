// The calls of the function library (book.lua) and their answers, as values.
//
// A call is the words of one command, to be sent by any client; every function that reads an
// answer takes what hiredis parsed. Everything of an item bucket is in one hash slot.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sale/book.hpp"
#include "store/ledger.hpp"
#include "store_cluster/redis_error.hpp"

namespace doorbuster {

using RedisCall = std::vector<std::string>;

struct BookBucket {
    SaleId sale;
    ItemId item;
    uint32_t bucket = 0;
};

// What a lease names: the very Redis process and history, and the epoch.
struct Fence {
    std::string pin;
    uint64_t epoch = 0;
    friend bool operator==(const Fence&, const Fence&) = default;
};

// One call carries at most so many purchases; book.lua refuses more than 1000.
constexpr size_t entries_per_call_max = 256;
constexpr uint32_t winners_per_call_max = 500;

// Redis' clock counts; tests hand a time in.
using HandedTime = std::optional<Instant>;

struct ReserveEntry {
    PurchaseId purchase;
    BuyerId buyer;
    uint32_t units = 1;
    // The finished purchase that this one continues. Then neither window nor phase is asked.
    std::optional<PurchaseId> replaces{};
};

struct Take {
    HoldState state = HoldState::held;
    uint32_t units = 0;
    uint64_t epoch = 0, sequence = 0;  // dense per bucket and epoch
    Instant accepted_at{};
    friend bool operator==(const Take&, const Take&) = default;
};

struct ReserveVerdict {
    ReserveOutcome outcome;
    PurchaseId holder{};      // limit_reached: the purchase that holds the right, if there is one
    Take take{};              // accepted, repeated
    bool is_pending = false;  // accepted, repeated: the outbox still has it, so Kafka may not
    uint64_t reopenings = 0;  // accepted, repeated: how often there was something to sell again, until now
};

struct KnownTake {
    PurchaseId purchase;
    BuyerId buyer;
    Take take;
};

struct OutboxEntry {
    KnownTake known;
    std::optional<PurchaseId> replaces;
};

// As it stands in the ledger, whoever brings it there.
LedgerEntry ledger_entry_of(const BookBucket&, const OutboxEntry&);

struct FoundTake {
    BuyerId buyer;
    Take take;
    bool is_pending;
};

struct BookWord {  // the operator's word, and what is sold on which terms
    uint64_t version = 0;
    Phase phase = Phase::not_ready;
    Book::Terms terms{};
};

struct BookLoad {
    uint64_t epoch = 0;
    BookWord word;
    Stock stock;
    std::vector<KnownTake> takes;
};

struct BookFigures {
    Stock stock;
    uint32_t slots_used = 0;
    uint64_t sequence_last = 0;
    Instant last_seen{};
};

struct BookPeek {
    std::string pin;
    struct There {
        uint64_t epoch;
        BookWord word;
        BookFigures figures;
        uint64_t outbox_entries;
        uint64_t purchases_known;           // loaded or taken, finished ones too
        std::optional<Instant> taken_at{};  // the last one of this epoch
        uint64_t reopenings = 0;            // how often, in this epoch, there was something to sell again
    };
    std::optional<There> book;
};

struct Winner {
    PurchaseId purchase;
    BuyerId buyer;
};

struct OutboxRange {
    std::chrono::milliseconds age_min{0};
    uint64_t after_sequence = 0;
    uint32_t count_max = 100;
};

// REQUIRES: 1 to entries_per_call_max entries, each of 1 to units_max units.
RedisCall reserve_call(const BookBucket&, const Fence&, std::span<const ReserveEntry>, HandedTime = {});
struct TakenAt {
    PurchaseId purchase;
    uint64_t sequence;
};
RedisCall done_call(const BookBucket&, const Fence&, std::span<const TakenAt>);
RedisCall release_call(const BookBucket&, const Fence&, std::span<const PurchaseId>);
RedisCall sell_call(const BookBucket&, const Fence&, std::span<const PurchaseId>);
RedisCall restock_call(const BookBucket&, const Fence&, const std::string& row, uint32_t units);
RedisCall set_state_call(const BookBucket&, const Fence&, const BookWord&);
RedisCall load_call(const BookBucket&, const BookLoad&);
RedisCall peek_call(const BookBucket&);
// Behind the first `after` that the book came to know.
// REQUIRES: count_max is 1 to winners_per_call_max.
RedisCall winners_call(const BookBucket&, const Fence&, uint64_t after, uint32_t count_max);
RedisCall find_call(const BookBucket&, const Fence&, std::span<const PurchaseId>);
RedisCall outbox_call(const BookBucket&, const Fence&, const OutboxRange&, HandedTime = {});
RedisCall load_library_call();
RedisCall library_version_call();

// What Redis says where it does not answer the call, in RedisError's words.
std::optional<RedisError> error_in(const redisReply&);

// One per entry. None: the outbox could not be written, an error; nothing has changed for it.
RedisResult<std::vector<std::optional<ReserveVerdict>>> read_reserve(const redisReply&, size_t entries);
RedisResult<std::vector<bool>> read_changes(const redisReply&, size_t entries);  // release, sell
RedisResult<int64_t> read_number(const redisReply&);   // done: entries that went; restock, set_state: 1 or 0
RedisResult<std::string> read_pin(const redisReply&);  // load
RedisResult<BookPeek> read_peek(const redisReply&);
RedisResult<std::vector<Winner>> read_winners(const redisReply&);
RedisResult<std::vector<std::optional<FoundTake>>> read_find(const redisReply&, size_t entries);
RedisResult<std::vector<OutboxEntry>> read_outbox(const redisReply&);
RedisResult<Instant> read_time(const redisReply&);  // TIME

}  // namespace doorbuster
