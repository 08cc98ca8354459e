// ClusterBoard: what the gates of this process see of an item whose book is in Redis.
//
// Looks at the book a few times a second, whoever sells: figures, and those who won elsewhere, in the order
// in which the book came to know them. "Sold out" is shown only while a look that is not old says so, and
// everybody who had won by that look is known here: a winner who repeats must never hear it. In doubt (no
// answer, another Redis, the lease is over) nobody is refused for what the board says.
//
// Thread safety: none; the books' thread. Whatever waits keeps it alive.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sale/board.hpp"
#include "store_cluster/cluster_bucket.hpp"
#include "store_cluster/redis_client.hpp"

namespace doorbuster {

class ClusterBoard : public std::enable_shared_from_this<ClusterBoard> {
public:
    ClusterBoard(RedisAsyncCalls& redis, std::shared_ptr<ClusterBucket> bucket,
                 std::shared_ptr<ItemBoard> board)
        : redis_(redis), bucket_(std::move(bucket)), board_(std::move(board)) {}

    // Called a few times a second; whether one has begun. One look is under way at a time.
    bool look();

    // `seen` is called when a look that began after this has been shown. It is not, where none succeeds.
    void look_then(std::function<void()> seen);

    // Nobody looks at the board any more.
    void close();

private:
    void looked(const RedisResult<const redisReply*>& reply);
    void read_winners();
    void winners_came(const RedisResult<const redisReply*>& reply);
    void show();
    void fail(const RedisError& error);

    RedisAsyncCalls& redis_;
    const std::shared_ptr<ClusterBucket> bucket_;
    const std::shared_ptr<ItemBoard> board_;

    // Those of the epoch who are on the board: the first so many that the book came to know.
    uint64_t epoch_ = 0, known_ = 0;

    // Of the look under way.
    bool is_looking_ = false, is_closed_ = false;
    pg::BootTime looked_at_{};
    Fence fence_;
    BookPeek::There there_{};
    std::vector<std::function<void()>> seen_, seen_next_;  // bound: the operator's words that wait
};

}  // namespace doorbuster
