#include "store_cluster/redis_session.hpp"

#include <vector>

namespace doorbuster {

RedisResult<RedisSession> RedisSession::open(const RedisAddress& address,
                                             std::chrono::milliseconds wait_max) {
    const auto ms = wait_max.count();
    const timeval wait{.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    Context context(address.socket.empty() ? redisConnectWithTimeout(address.host.c_str(), address.port, wait)
                                           : redisConnectUnixWithTimeout(address.socket.c_str(), wait));
    if (!context) return RedisError{RedisErrc::unreachable, "out of memory"};
    if (context->err != 0) return RedisError{RedisErrc::unreachable, context->errstr};
    redisSetTimeout(context.get(), wait);

    RedisSession session(std::move(context));
    if (address.user.empty()) return session;
    const auto said = session.run({"AUTH", address.user, address.password});
    if (!said) return said.error();
    if (auto error = error_in(**said)) return *error;
    return session;
}

RedisResult<RedisReplyPtr> RedisSession::run(const RedisCall& call) {
    if (context_->err != 0) return RedisError{RedisErrc::unreachable, context_->errstr};
    std::vector<const char*> words;
    std::vector<size_t> sizes;
    for (const std::string& word : call) {
        words.push_back(word.data());
        sizes.push_back(word.size());
    }
    RedisReplyPtr reply(static_cast<redisReply*>(
        redisCommandArgv(context_.get(), static_cast<int>(words.size()), words.data(), sizes.data())));
    if (reply) return reply;
    const bool is_late = context_->err == REDIS_ERR_IO && errno == EAGAIN;
    return RedisError{is_late ? RedisErrc::late : RedisErrc::unreachable, context_->errstr, true};
}

}  // namespace doorbuster
