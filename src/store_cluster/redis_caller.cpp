#include "store_cluster/redis_caller.hpp"

#include "store_cluster/redis_library.hpp"

namespace doorbuster {

RedisResult<std::unique_ptr<RedisCalls>> RedisCaller::open_session(const RedisAddress& address,
                                                                   std::chrono::milliseconds wait_max) {
    auto opened = RedisSession::open(address, wait_max);
    if (!opened) return opened.error();
    return std::unique_ptr<RedisCalls>(std::make_unique<RedisSession>(std::move(*opened)));
}

RedisResult<RedisCalls*> RedisCaller::session() {
    if (session_ && session_->is_broken()) session_.reset();
    if (!session_) {
        auto opened = options_.open(options_.address, options_.wait_max);
        if (!opened) return opened.error();
        session_ = std::move(*opened);
    }
    return session_.get();
}

RedisResult<RedisReplyPtr> RedisCaller::run(const RedisCall& call) {
    const bool is_new = !session_;
    const auto opened = session();
    if (!opened) return opened.error();
    auto reply = (*opened)->run(call);
    const bool had_ended = !reply && reply.error().code == RedisErrc::unreachable && !is_new;
    if (!had_ended) return reply;
    const auto again = session();
    if (!again) return again.error();
    return (*again)->run(call);
}

RedisResult<void> RedisCaller::load_library() {
    const auto version = run(library_version_call());
    if (!version) return version.error();
    const redisReply& said = **version;
    const bool is_there =
        said.type == REDIS_REPLY_STRING &&
        std::string_view(said.str, static_cast<size_t>(said.len)) == redis_library_version();
    if (is_there) return {};
    const auto setup = options_.open(options_.setup, options_.wait_max);
    if (!setup) return setup.error();
    const auto loaded = (*setup)->run(load_library_call());
    if (!loaded) return loaded.error();
    if (auto error = error_in(**loaded)) return *error;
    return {};
}

RedisResult<std::optional<BookPeek>> RedisCaller::peek(const BookBucket& bucket) {
    const auto reply = run(peek_call(bucket));
    if (!reply) return reply.error();
    // Redis lost everything, the library included.
    if (const auto error = error_in(**reply); error && error->code == RedisErrc::missing)
        return std::optional<BookPeek>();
    auto peek = read_peek(**reply);
    if (!peek) return peek.error();
    if (!peek->book) return std::optional<BookPeek>();
    return std::optional(*peek);
}

}  // namespace doorbuster
