// RedisCaller: calls to one Redis that may go and come back; a connection that failed is made anew with the
// next call. For whoever makes one call at a time and can wait for it.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <optional>

#include "store_cluster/redis_session.hpp"

namespace doorbuster {

class RedisCaller {
public:
    using Open = std::function<RedisResult<std::unique_ptr<RedisCalls>>(const RedisAddress&,
                                                                        std::chrono::milliseconds)>;
    // A connection to a real one.
    [[nodiscard]] static RedisResult<std::unique_ptr<RedisCalls>> open_session(
        const RedisAddress& address, std::chrono::milliseconds wait_max);
    struct Options {
        RedisAddress address;
        RedisAddress setup;  // as whom the function library is loaded
        std::chrono::milliseconds wait_max{2'000};
        Open open = &open_session;  // a simulation has its own
    };

    explicit RedisCaller(const Options& options) : options_(options) {}

    // An error that Redis answers is a reply like any other: see error_in. Where the connection turns out to
    // have ended, the call is made once more over a new one: what goes this way may be repeated.
    [[nodiscard]] RedisResult<RedisReplyPtr> run(const RedisCall&);
    // For those who make several calls.
    [[nodiscard]] RedisResult<RedisCalls*> session();
    // The function library, unless this very one is there: a fresh copy reads the pin anew, and where a
    // replica has come since, the books that stand would be another Redis' all at once.
    [[nodiscard]] RedisResult<void> load_library();
    // None: Redis answers, and has no book of this bucket.
    [[nodiscard]] RedisResult<std::optional<BookPeek>> peek(const BookBucket&);

private:
    const Options options_;
    std::unique_ptr<RedisCalls> session_;
};

}  // namespace doorbuster
