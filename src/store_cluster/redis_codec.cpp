#include "store_cluster/redis_codec.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "base/check.hpp"
#include "sale/sale.hpp"
#include "store_cluster/redis_library.hpp"

namespace doorbuster {
namespace {

constexpr size_t id_bytes = 16;
constexpr size_t take_bytes = 29;  // take_form of book.lua
constexpr size_t reopenings_bytes = 8;
constexpr char not_written = '\xff';
constexpr uint8_t outcome_base =
    16;  // an outcome is said as this and its number; what begins with less is a take

std::string bytes_of(const PurchaseId& id) {
    return {id.bytes.begin(), id.bytes.end()};
}

RedisCall words_of(const BookBucket& bucket, const char* function, const char* verb = "FCALL") {
    const std::string slot =
        fmt::format("{{{}/{}/{}}}", bucket.sale.view(), bucket.item.view(), bucket.bucket);
    return {verb, function, "2", slot + ":book", slot + ":outbox"};
}

RedisCall words_of(const BookBucket& bucket, const Fence& fence, const char* function,
                   const char* verb = "FCALL") {
    RedisCall call = words_of(bucket, function, verb);
    call.push_back(fmt::format("{}-{}", fence.pin, fence.epoch));
    return call;
}

void add_time(RedisCall& call, const HandedTime& now) {
    if (now) call.push_back(std::to_string(to_ms(*now)));
}

RedisCall purchases_call(const BookBucket& bucket, const Fence& fence, std::span<const PurchaseId> purchases,
                         const char* function, const char* verb = "FCALL") {
    CHECK(!purchases.empty() && purchases.size() <= entries_per_call_max);
    RedisCall call = words_of(bucket, fence, function, verb);
    for (const PurchaseId& purchase : purchases) call.push_back(bytes_of(purchase));
    return call;
}

void add_word(RedisCall& call, const BookWord& word) {
    call.push_back(std::to_string(word.version));
    call.push_back(std::to_string(static_cast<int>(word.phase)));
    call.push_back(std::to_string(to_ms(word.terms.opens_at)));
    call.push_back(std::to_string(to_ms(word.terms.closes_at)));
    call.push_back(std::to_string(word.terms.units_per_buyer_max));
    call.push_back(std::to_string(static_cast<int>(word.terms.policy)));
    call.push_back(std::to_string(word.terms.orders_max));
}

void add_big_endian(std::string& to, uint64_t number, size_t bytes) {
    while (bytes-- > 0) to.push_back(static_cast<char>(number >> (8 * bytes)));
}

// Most buy one unit and replace nothing: that is the empty word.
std::string rest_of(const ReserveEntry& entry) {
    std::string rest;
    if (entry.units == 1 && !entry.replaces) return rest;
    add_big_endian(rest, entry.units, 4);
    if (entry.replaces) rest += bytes_of(*entry.replaces);
    return rest;
}

std::string packed(const KnownTake& known) {
    std::string text;
    text.reserve(take_bytes + known.buyer.view().size());
    add_big_endian(text, static_cast<uint8_t>(known.take.state), 1);
    add_big_endian(text, known.take.units, 4);
    add_big_endian(text, known.take.epoch, 8);
    add_big_endian(text, known.take.sequence, 8);
    add_big_endian(text, static_cast<uint64_t>(to_ms(known.take.accepted_at)), 8);
    return text.append(known.buyer.view());
}

// Reads big-endian numbers off the front. Whoever uses it has checked the length.
struct Bytes {
    std::string_view left;

    uint64_t number(size_t bytes) {
        uint64_t result = 0;
        for (size_t i = 0; i < bytes; ++i) result = result << 8 | static_cast<uint8_t>(left[i]);
        left.remove_prefix(bytes);
        return result;
    }
    uint32_t number32() { return static_cast<uint32_t>(number(4)); }
    Instant instant() { return from_ms(static_cast<int64_t>(number(8))); }
    PurchaseId purchase() {
        PurchaseId id;
        std::memcpy(id.bytes.data(), left.data(), id_bytes);
        left.remove_prefix(id_bytes);
        return id;
    }
    std::optional<Take> take() {
        const uint64_t state = number(1);
        if (state > static_cast<uint64_t>(HoldState::open)) return std::nullopt;
        Take take{.state = static_cast<HoldState>(state), .units = number32()};
        take.epoch = number(8);
        take.sequence = number(8);
        take.accepted_at = instant();
        return take;
    }
};

RedisError garbled(const char* what) {
    // The call ran: what it did is not known here.
    return {RedisErrc::garbled, fmt::format("Redis answered {} with something else", what), true};
}

std::string_view view_of(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_STRING && reply.type != REDIS_REPLY_STATUS) return {};
    return {reply.str, static_cast<size_t>(reply.len)};
}

std::optional<FoundTake> found_in(std::string_view text) {
    if (text.size() <= 1 + take_bytes) return std::nullopt;
    Bytes bytes{text};
    const bool is_pending = bytes.number(1) != 0;
    const auto take = bytes.take();
    const auto buyer = BuyerId::from(bytes.left);
    if (!take || !buyer) return std::nullopt;
    return FoundTake{*buyer, *take, is_pending};
}

// None: it cannot be read. Some of none: not written.
std::optional<std::optional<ReserveVerdict>> verdict_in(std::string_view text) {
    using enum ReserveOutcome;
    if (text.empty()) return std::nullopt;
    if (text == std::string_view(&not_written, 1)) return std::optional<ReserveVerdict>();
    const auto first = static_cast<uint8_t>(text[0]);
    if (first < outcome_base) {
        if (text.size() <= take_bytes) return std::nullopt;
        const auto take = Bytes{text}.take();
        if (!take) return std::nullopt;
        return ReserveVerdict{.outcome = accepted, .take = *take, .is_pending = true};
    }
    if (first > outcome_base + static_cast<uint8_t>(sold_out_for_now)) return std::nullopt;
    const auto outcome = static_cast<ReserveOutcome>(first - outcome_base);
    text.remove_prefix(1);
    if (outcome == accepted || outcome == repeated) {
        if (text.size() != take_bytes + 1 + reopenings_bytes) return std::nullopt;
        Bytes bytes{text};
        const auto take = bytes.take();
        if (!take) return std::nullopt;
        const bool is_pending = bytes.number(1) != 0;
        return ReserveVerdict{.outcome = outcome,
                              .take = *take,
                              .is_pending = is_pending,
                              .reopenings = bytes.number(reopenings_bytes)};
    }
    if (outcome == limit_reached) {
        if (text.size() != id_bytes) return std::nullopt;
        return ReserveVerdict{.outcome = outcome, .holder = Bytes{text}.purchase()};
    }
    if (!text.empty()) return std::nullopt;
    return ReserveVerdict{.outcome = outcome};
}

bool is_array(const redisReply& reply, size_t elements) {
    return reply.type == REDIS_REPLY_ARRAY && reply.elements == elements;
}

}  // namespace

RedisCall reserve_call(const BookBucket& bucket, const Fence& fence, std::span<const ReserveEntry> entries,
                       HandedTime now) {
    CHECK(!entries.empty() && entries.size() <= entries_per_call_max);
    RedisCall call = words_of(bucket, fence, "doorbuster_reserve");
    call.reserve(call.size() + 3 * entries.size() + 1);
    for (const ReserveEntry& entry : entries) {
        CHECK(entry.units >= 1 && entry.units <= units_max);
        call.push_back(bytes_of(entry.purchase));
        call.push_back(entry.buyer.str());
        call.push_back(rest_of(entry));
    }
    add_time(call, now);
    return call;
}

RedisCall done_call(const BookBucket& bucket, const Fence& fence, std::span<const TakenAt> takes) {
    CHECK(!takes.empty() && takes.size() <= entries_per_call_max);
    RedisCall call = words_of(bucket, fence, "doorbuster_done");
    for (const TakenAt& taken : takes) {
        call.push_back(bytes_of(taken.purchase));
        call.push_back(std::to_string(taken.sequence));
    }
    return call;
}

RedisCall release_call(const BookBucket& bucket, const Fence& fence, std::span<const PurchaseId> purchases) {
    return purchases_call(bucket, fence, purchases, "doorbuster_release");
}

RedisCall sell_call(const BookBucket& bucket, const Fence& fence, std::span<const PurchaseId> purchases) {
    return purchases_call(bucket, fence, purchases, "doorbuster_sell");
}

RedisCall restock_call(const BookBucket& bucket, const Fence& fence, const std::string& row, uint32_t units) {
    RedisCall call = words_of(bucket, fence, "doorbuster_restock");
    call.push_back(row);
    call.push_back(std::to_string(units));
    return call;
}

RedisCall set_state_call(const BookBucket& bucket, const Fence& fence, const BookWord& word) {
    RedisCall call = words_of(bucket, fence, "doorbuster_set_state");
    add_word(call, word);
    return call;
}

RedisCall load_call(const BookBucket& bucket, const BookLoad& load) {
    RedisCall call = words_of(bucket, "doorbuster_load");
    call.push_back(std::to_string(load.epoch));
    add_word(call, load.word);
    for (const uint32_t units :
         {load.stock.units_total, load.stock.units_available, load.stock.units_held, load.stock.units_sold})
        call.push_back(std::to_string(units));
    for (const KnownTake& known : load.takes) {
        call.push_back(bytes_of(known.purchase));
        call.push_back(packed(known));
    }
    return call;
}

RedisCall peek_call(const BookBucket& bucket) {
    return words_of(bucket, "doorbuster_peek", "FCALL_RO");
}

RedisCall winners_call(const BookBucket& bucket, const Fence& fence, uint64_t after, uint32_t count_max) {
    CHECK(count_max >= 1 && count_max <= winners_per_call_max);
    RedisCall call = words_of(bucket, fence, "doorbuster_winners", "FCALL_RO");
    call.push_back(std::to_string(after));
    call.push_back(std::to_string(count_max));
    return call;
}

RedisCall find_call(const BookBucket& bucket, const Fence& fence, std::span<const PurchaseId> purchases) {
    return purchases_call(bucket, fence, purchases, "doorbuster_find", "FCALL_RO");
}

RedisCall outbox_call(const BookBucket& bucket, const Fence& fence, const OutboxRange& range,
                      HandedTime now) {
    RedisCall call = words_of(bucket, fence, "doorbuster_outbox", "FCALL_RO");
    call.push_back(std::to_string(range.age_min.count()));
    call.push_back(std::to_string(range.after_sequence));
    call.push_back(std::to_string(range.count_max));
    add_time(call, now);
    return call;
}

RedisCall load_library_call() {
    return {"FUNCTION", "LOAD", "REPLACE", std::string(redis_library())};
}

RedisCall library_version_call() {
    return {"FCALL_RO", "doorbuster_version", "0"};
}

std::optional<RedisError> error_in(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ERROR) return std::nullopt;
    const std::string_view text(reply.str, static_cast<size_t>(reply.len));
    const auto code = text.starts_with("FENCED")                                  ? RedisErrc::fenced
                      : text.starts_with("NEWER")                                 ? RedisErrc::newer
                      : text.find("Function not found") != std::string_view::npos ? RedisErrc::missing
                                                                                  : RedisErrc::refused;
    return RedisError{code, std::string(text)};
}

RedisResult<std::vector<std::optional<ReserveVerdict>>> read_reserve(const redisReply& reply,
                                                                     size_t entries) {
    if (auto error = error_in(reply)) return *error;
    const bool is_lone = entries == 1;
    if (is_lone ? reply.type != REDIS_REPLY_STRING : !is_array(reply, entries)) return garbled("reserve");
    std::vector<std::optional<ReserveVerdict>> verdicts;
    verdicts.reserve(entries);
    for (size_t i = 0; i < entries; ++i) {
        const auto verdict = verdict_in(view_of(is_lone ? reply : *reply.element[i]));
        if (!verdict) return garbled("reserve");
        verdicts.push_back(*verdict);
    }
    return verdicts;
}

RedisResult<std::vector<bool>> read_changes(const redisReply& reply, size_t entries) {
    if (auto error = error_in(reply)) return *error;
    if (!is_array(reply, entries)) return garbled("a change");
    std::vector<bool> changes;
    for (size_t i = 0; i < entries; ++i) {
        if (reply.element[i]->type != REDIS_REPLY_INTEGER) return garbled("a change");
        changes.push_back(reply.element[i]->integer != 0);
    }
    return changes;
}

RedisResult<int64_t> read_number(const redisReply& reply) {
    if (auto error = error_in(reply)) return *error;
    if (reply.type != REDIS_REPLY_INTEGER) return garbled("a call");
    return int64_t{reply.integer};
}

RedisResult<std::string> read_pin(const redisReply& reply) {
    if (auto error = error_in(reply)) return *error;
    if (view_of(reply).empty()) return garbled("load");
    return std::string(view_of(reply));
}

RedisResult<BookPeek> read_peek(const redisReply& reply) {
    if (auto error = error_in(reply)) return *error;
    if (!is_array(reply, 1) && !is_array(reply, 8)) return garbled("peek");
    BookPeek peek{.pin = std::string(view_of(*reply.element[0])), .book = {}};
    if (peek.pin.empty()) return garbled("peek");
    if (reply.elements == 1) return peek;

    Bytes terms{view_of(*reply.element[2])}, figures{view_of(*reply.element[3])};
    if (reply.element[1]->type != REDIS_REPLY_INTEGER || reply.element[4]->type != REDIS_REPLY_INTEGER ||
        reply.element[5]->type != REDIS_REPLY_INTEGER || reply.element[6]->type != REDIS_REPLY_INTEGER ||
        reply.element[7]->type != REDIS_REPLY_INTEGER || terms.left.size() != 34 || figures.left.size() != 36)
        return garbled("peek");
    BookPeek::There there{.epoch = static_cast<uint64_t>(reply.element[1]->integer),
                          .word = {},
                          .figures = {},
                          .outbox_entries = static_cast<uint64_t>(reply.element[4]->integer),
                          .purchases_known = static_cast<uint64_t>(reply.element[5]->integer)};
    there.word.version = terms.number(8);
    there.word.phase = static_cast<Phase>(terms.number(1));
    there.word.terms.opens_at = terms.instant();
    there.word.terms.closes_at = terms.instant();
    there.word.terms.units_per_buyer_max = terms.number32();
    there.word.terms.policy = static_cast<StockPolicy>(terms.number(1));
    there.word.terms.orders_max = terms.number32();
    Stock& stock = there.figures.stock;
    for (uint32_t* units : {&stock.units_total, &stock.units_available, &stock.units_held, &stock.units_sold,
                            &there.figures.slots_used})
        *units = figures.number32();
    there.figures.sequence_last = figures.number(8);
    there.figures.last_seen = figures.instant();
    there.purchases_known += there.figures.sequence_last;
    if (reply.element[6]->integer != 0) there.taken_at = from_ms(reply.element[6]->integer);
    there.reopenings = static_cast<uint64_t>(reply.element[7]->integer);
    peek.book = there;
    return peek;
}

RedisResult<std::vector<Winner>> read_winners(const redisReply& reply) {
    if (auto error = error_in(reply)) return *error;
    if (reply.type != REDIS_REPLY_ARRAY) return garbled("winners");
    std::vector<Winner> winners;
    for (size_t i = 0; i < reply.elements; ++i) {
        Bytes bytes{view_of(*reply.element[i])};
        if (bytes.left.size() <= id_bytes) return garbled("winners");
        const PurchaseId purchase = bytes.purchase();
        const auto buyer = BuyerId::from(bytes.left);
        if (!buyer) return garbled("winners");
        winners.push_back({purchase, *buyer});
    }
    return winners;
}

RedisResult<std::vector<std::optional<FoundTake>>> read_find(const redisReply& reply, size_t entries) {
    if (auto error = error_in(reply)) return *error;
    if (!is_array(reply, entries)) return garbled("find");
    std::vector<std::optional<FoundTake>> takes;
    for (size_t i = 0; i < entries; ++i) {
        const std::string_view text = view_of(*reply.element[i]);
        takes.push_back(found_in(text));
        if (!text.empty() && !takes.back()) return garbled("find");
    }
    return takes;
}

RedisResult<std::vector<OutboxEntry>> read_outbox(const redisReply& reply) {
    if (auto error = error_in(reply)) return *error;
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements % 3 != 0) return garbled("outbox");
    std::vector<OutboxEntry> entries;
    for (size_t i = 0; i < reply.elements; i += 3) {
        Bytes purchase{view_of(*reply.element[i])}, bytes{view_of(*reply.element[i + 1])};
        Bytes replaces{view_of(*reply.element[i + 2])};
        if (purchase.left.size() != id_bytes || bytes.left.size() <= take_bytes ||
            (!replaces.left.empty() && replaces.left.size() != id_bytes))
            return garbled("outbox");
        const auto take = bytes.take();
        const auto buyer = BuyerId::from(bytes.left);
        if (!take || !buyer) return garbled("outbox");
        entries.push_back({{purchase.purchase(), *buyer, *take}, {}});
        if (!replaces.left.empty()) entries.back().replaces = replaces.purchase();
    }
    return entries;
}

LedgerEntry ledger_entry_of(const BookBucket& bucket, const OutboxEntry& entry) {
    const auto& [purchase, buyer, take] = entry.known;
    return {.sale = bucket.sale,
            .item = bucket.item,
            .acceptance = {.purchase = purchase,
                           .buyer = buyer,
                           .units = take.units,
                           .sequence = take.sequence,
                           .accepted_at = take.accepted_at},
            .replaces = entry.replaces,
            .epoch = take.epoch,
            .bucket = bucket.bucket};
}

RedisResult<Instant> read_time(const redisReply& reply) {
    if (auto error = error_in(reply)) return *error;
    if (!is_array(reply, 2)) return garbled("TIME");
    const auto number_of = [](const redisReply& word) -> std::optional<int64_t> {
        const std::string_view text = view_of(word);
        int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
        return number;
    };
    const auto seconds = number_of(*reply.element[0]), micros = number_of(*reply.element[1]);
    if (!seconds || !micros) return garbled("TIME");
    return from_ms(*seconds * 1000 + *micros / 1000);
}

}  // namespace doorbuster
