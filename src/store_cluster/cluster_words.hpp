// ClusterWords: what this process tells a book in Redis: the operator's word, and who has paid.
//
// The word stands in PostgreSQL already, with its version, and Redis ignores what is older. It is told
// once under every epoch, and again until Redis has answered; a rebuild that is under way may have read the
// row before. Whoever waits for it is answered when Redis has it and the board has shown all who won
// before, or when the epoch is closed (the next one is loaded from the row), or after a bound.
//
// Who has paid only keeps held and sold apart in the figures: PostgreSQL has it, the next epoch is loaded
// with it.
//
// Thread safety: none; the books' thread. Whatever waits keeps it alive.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "store_cluster/cluster_board.hpp"

namespace doorbuster {

class ClusterWords : public std::enable_shared_from_this<ClusterWords> {
public:
    static constexpr size_t paid_max = 65'536;  // that wait; beyond, the next epoch tells

    ClusterWords(RedisAsyncCalls& redis, std::shared_ptr<ClusterBucket> bucket,
                 std::shared_ptr<ClusterBoard> board, milliseconds wait_max)
        : redis_(redis), bucket_(std::move(bucket)), board_(std::move(board)), wait_max_(wait_max) {}

    void tell(const BookWord& word, std::function<void()> applied);
    void paid(const PurchaseId& purchase);

    // Called a few times a second: tells what Redis has not answered, and ends waits that are too long.
    void turn();

    // Nobody hears these words any more.
    void close();

private:
    struct Waiting {
        std::function<void()> applied;
        pg::BootTime until;
    };

    void tell_word();
    void see();
    void tell_paid();
    void answer_all();
    void answer_overdue();

    RedisAsyncCalls& redis_;
    const std::shared_ptr<ClusterBucket> bucket_;
    const std::shared_ptr<ClusterBoard> board_;
    const milliseconds wait_max_;

    BookWord word_{};
    bool has_word_ = false, is_telling_ = false, is_seeing_ = false, is_telling_paid_ = false;
    // Which word Redis has answered, and where.
    uint64_t told_version_ = 0, told_epoch_ = 0;
    std::vector<Waiting> waiting_;  // bound: the operator's requests under way
    std::vector<PurchaseId> paid_;  // bound: paid_max
};

}  // namespace doorbuster
