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

class RedisSession {
public:
    // Bounds the connecting and every call.
    [[nodiscard]] static RedisResult<RedisSession> open(const RedisAddress&,
                                                        std::chrono::milliseconds wait_max);

    // An error that Redis answers is a reply like any other: see error_in. After an error of the
    // connection every call fails.
    [[nodiscard]] RedisResult<RedisReplyPtr> run(const RedisCall&);
    bool is_broken() const { return context_->err != 0; }

private:
    struct Free {
        void operator()(redisContext* context) const { redisFree(context); }
    };
    using Context = std::unique_ptr<redisContext, Free>;
    explicit RedisSession(Context context) : context_(std::move(context)) {}

    Context context_;
};

}  // namespace doorbuster
