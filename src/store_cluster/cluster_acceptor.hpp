// ClusterAcceptor: a purchase's way from Redis through Kafka to its answer, and the outbox behind it.
//
//   1. Redis decides; purchases of the bucket that come together travel together
//   2. what it accepted is produced to Kafka; so is a repeat that the outbox still has
//   3. on a durable report, if the lease still holds, the buyer hears it: so every yes lies before the SEAL
//      of its epoch. Otherwise the buyer hears `unknown`; nothing is ever given back from here
//   4. `done` removes the outbox entries of what was durable, many in one call
//
// A yes that is news (the item was sold out a moment ago, and other gates may still show that) waits until
// they do not: a winner who repeats at another gate must not be refused there.
//
// Whatever is not done is left to the sweeper: the outbox has it. A repeat that the outbox has no more is in
// Kafka, and is answered at once. Refusals stand as Redis said them, if the lease still holds; where Redis
// did not answer, or is another one, nobody hears a word about stock.
//
// Thread safety: none; the books' thread. Whatever waits keeps it alive.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "sale/board.hpp"
#include "store/purchase_desk.hpp"
#include "store_cluster/cluster_bucket.hpp"
#include "store_cluster/kafka_records.hpp"
#include "store_cluster/redis_reserver.hpp"

namespace doorbuster {

class ClusterAcceptor : public std::enable_shared_from_this<ClusterAcceptor> {
public:
    struct Outcome {
        Verdict verdict;
        Book::ReserveAnswer answer{};
        bool is_news = false;  // then it was held back
    };
    using Answered = std::function<void(const Outcome&)>;
    // Borrowed; the client must be gone before the loop, and the records outlive every report.
    struct Parts {
        boost::asio::io_context& loop;
        RedisAsyncCalls& redis;
        RecordSink& records;
        // Does something later, on the loop; none: by the loop's own timers. A simulation has its own.
        std::function<void(milliseconds, std::function<void()>)> later{};
    };

    ClusterAcceptor(const Parts& parts, std::shared_ptr<ClusterBucket> bucket,
                    std::shared_ptr<ItemBoard> board);

    // `answered` is called once: at once where nothing can be taken, else later.
    void reserve(const ReserveEntry& entry, Answered answered);

    bool is_idle() const { return !is_removing_ && durable_.empty(); }

private:
    struct Asked {
        ReserveEntry entry;
        Answered answered;
    };
    using AskedPtr = std::shared_ptr<const Asked>;
    struct Durable {
        TakenAt taken;
        uint64_t epoch;
    };

    void decided(const AskedPtr& asked, const RedisResult<ReserveVerdict>& verdict, const Fence& under);
    void produce(const AskedPtr& asked, const ReserveVerdict& verdict);
    void reported(const AskedPtr& asked, const ReserveVerdict& verdict, KafkaDelivery delivery);
    void answer_taken(const AskedPtr& asked, const ReserveVerdict& verdict);
    void later(milliseconds wait, std::function<void()> what);
    void say_yes(const Asked& asked, const ReserveVerdict& verdict, bool is_news);
    void remove_soon();
    void remove();

    const Parts parts_;
    const std::shared_ptr<ClusterBucket> bucket_;
    const std::shared_ptr<ItemBoard> board_;
    RedisReserver reserver_;

    std::vector<Durable> durable_;  // outbox entries to be removed; bound: the takes under way
    bool is_removing_ = false;      // a call is under way, or about to leave
};

}  // namespace doorbuster
