#include "store_cluster/redis_strikes.hpp"

#include <algorithm>
#include <charconv>
#include <span>

namespace doorbuster {

namespace {

constexpr const char* stream = "strikes";

std::string_view text_of(const redisReply& reply) {
    return {reply.str, static_cast<size_t>(reply.len)};
}

bool is_text(const redisReply& reply) {
    return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS;
}

std::span<redisReply* const> parts_of(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ARRAY) return {};
    return {reply.element, static_cast<size_t>(reply.elements)};
}

std::optional<int64_t> number_in(std::string_view text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data()) return std::nullopt;
    return number;  // of an entry's id, what stands before the dash
}

std::optional<Strike> kind_in(std::string_view text) {
    const auto number = number_in(text);
    if (!number || *number < 0 || *number >= static_cast<int64_t>(strike_words)) return std::nullopt;
    return static_cast<Strike>(*number);
}

std::optional<ToldStrike> strike_in(const redisReply& fields) {
    std::optional<std::string_view> origin, buyer, kind, age;
    const auto words = parts_of(fields);
    for (size_t i = 0; i + 1 < words.size(); i += 2) {
        if (!is_text(*words[i]) || !is_text(*words[i + 1])) return std::nullopt;
        const std::string_view name = text_of(*words[i]), value = text_of(*words[i + 1]);
        if (name == "from") origin = value;
        if (name == "buyer") buyer = value;
        if (name == "kind") kind = value;
        if (name == "age_ms") age = value;
    }
    if (!origin || !buyer || !kind || !age) return std::nullopt;
    const auto who = BuyerId::from(*buyer);
    const auto what = kind_in(*kind);
    const auto age_ms = number_in(*age);
    if (!who || !what || !age_ms || *age_ms < 0) return std::nullopt;
    return ToldStrike{std::string(*origin), *who, *what, milliseconds(*age_ms)};
}

RedisError no_strikes(std::string what) {
    return {RedisErrc::garbled, std::move(what)};
}

}  // namespace

RedisCall tell_strike_call(const ToldStrike& told) {
    return {"XADD",
            stream,
            "MAXLEN",
            "~",
            std::to_string(strikes_kept_max),
            "*",
            "from",
            told.origin,
            "buyer",
            std::string(told.buyer.view()),
            "kind",
            std::to_string(static_cast<int>(told.kind)),
            "age_ms",
            std::to_string(told.age.count())};
}

RedisCall read_strikes_call(const std::string& after) {
    return {"XREAD", "COUNT", std::to_string(strikes_per_read_max), "STREAMS", stream, after};
}

// [[stream, [[id, [name, value, …]], …]]], or nil.
RedisResult<ReadStrikes> read_strikes(const redisReply& reply, Instant redis_now) {
    if (auto error = error_in(reply)) return *error;
    ReadStrikes read;
    if (reply.type == REDIS_REPLY_NIL) return read;
    const auto streams = parts_of(reply);
    if (streams.size() != 1 || parts_of(*streams[0]).size() != 2) return no_strikes("strikes");
    for (const redisReply* entry : parts_of(*parts_of(*streams[0])[1])) {
        const auto pair = parts_of(*entry);
        if (pair.size() != 2 || !is_text(*pair[0])) return no_strikes("a strike");
        ++read.entries;
        read.last_id = text_of(*pair[0]);
        const auto added_ms = number_in(read.last_id);
        auto told = strike_in(*pair[1]);
        if (!added_ms || !told) continue;
        told->age += std::max(milliseconds(0), redis_now - from_ms(*added_ms));
        read.strikes.push_back(*std::move(told));
    }
    return read;
}

RedisStrikes::RedisStrikes(boost::asio::io_context& loop, RedisClient& redis, const Options& options,
                           Hooks hooks)
    : redis_(redis), options_(options), hooks_(std::move(hooks)), timer_(loop) {}

void RedisStrikes::start() {
    turn();
}

void RedisStrikes::stop() {
    timer_.cancel();
}

void RedisStrikes::tell(const BuyerId& buyer, Strike kind) {
    told_total_.fetch_add(1, std::memory_order_relaxed);
    if (!waiting_.try_push({buyer, kind, std::chrono::steady_clock::now()})) lost();
}

void RedisStrikes::turn() {
    tell_others();
    if (!is_reading_) ask_time();
    timer_.expires_after(options_.every);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) turn();
    });
}

void RedisStrikes::tell_others() {
    for (size_t told = 0; told < told_per_turn_max; ++told) {
        if (!next_) {
            Waiting taken;
            if (!waiting_.pop(taken)) return;
            next_ = taken;
        }
        const auto age = std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - next_->since);
        const auto sent = redis_.call(tell_strike_call({options_.origin, next_->buyer, next_->kind, age}),
                                      [this](const RedisResult<const redisReply*>& reply) {
                                          if (!reply || error_in(**reply)) lost();
                                      });
        if (!sent) return;  // nothing went: it is still the next
        next_.reset();
    }
}

void RedisStrikes::ask_time() {
    is_reading_ = redis_
                      .call({"TIME"},
                            [this](const RedisResult<const redisReply*>& reply) {
                                is_reading_ = false;
                                if (!reply) return;
                                if (const auto now = read_time(**reply)) read(*now);
                            })
                      .has_value();
}

void RedisStrikes::read(Instant redis_now) {
    const milliseconds remembered = hooks_.remembered_max();
    if (last_id_.empty()) last_id_ = std::to_string(std::max<int64_t>(0, to_ms(redis_now - remembered)));
    is_reading_ = redis_
                      .call(read_strikes_call(last_id_),
                            [this, redis_now](const RedisResult<const redisReply*>& reply) {
                                is_reading_ = false;
                                if (!reply) return;
                                const auto read = read_strikes(**reply, redis_now);
                                if (read) take(*read, redis_now);
                            })
                      .has_value();
}

void RedisStrikes::take(const ReadStrikes& read, Instant redis_now) {
    if (read.entries == 0) return;
    last_id_ = read.last_id;
    for (const ToldStrike& told : read.strikes) {
        if (told.origin == options_.origin) continue;
        heard_total_.fetch_add(1, std::memory_order_relaxed);
        hooks_.heard(told.buyer, told.kind, told.age);
    }
    if (read.entries == strikes_per_read_max) this->read(redis_now);
}

}  // namespace doorbuster
