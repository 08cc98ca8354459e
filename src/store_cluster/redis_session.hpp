// RedisSession: one connection to Redis, one call at a time, for warm-up, tools and tests. The gates
// have RedisClient.
//
// Thread safety: none.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <string>

#include "store_cluster/redis_codec.hpp"

namespace doorbuster {

struct RedisAddress {
    std::string host = "127.0.0.1";
    uint16_t port = 6379;
    std::string socket{};            // a path: instead of host and port
    std::string user{}, password{};  // no user: none is sent
};

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using RedisReplyPtr = std::unique_ptr<redisReply, FreeReply>;

// What makes one call at a time and waits for it: the one below, or a simulation's.
class RedisCalls {
public:
    virtual ~RedisCalls() = default;

    // An error that Redis answers is a reply like any other: see error_in. After an error of the
    // connection every call fails.
    [[nodiscard]] virtual RedisResult<RedisReplyPtr> run(const RedisCall&) = 0;
    virtual bool is_broken() const = 0;
};

class RedisSession final : public RedisCalls {
public:
    // Bounds the connecting and every call.
    [[nodiscard]] static RedisResult<RedisSession> open(const RedisAddress&,
                                                        std::chrono::milliseconds wait_max);

    [[nodiscard]] RedisResult<RedisReplyPtr> run(const RedisCall&) override;
    bool is_broken() const override { return context_->err != 0; }

private:
    struct Free {
        void operator()(redisContext* context) const { redisFree(context); }
    };
    using Context = std::unique_ptr<redisContext, Free>;
    explicit RedisSession(Context context) : context_(std::move(context)) {}

    Context context_;
};

}  // namespace doorbuster
