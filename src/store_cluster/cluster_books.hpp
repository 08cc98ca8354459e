// ClusterBooks: the books as a gate of the cluster has them: in Redis, reached from one event loop.
//
// Purchases come through a bounded queue that says no when it is full, when the predicted wait is above the
// limit, or when no lease holds: before anything is taken. Each item has an acceptor (take, Kafka, answer), a
// board (what the gates see) and the words that are told to Redis. Every wait behind the queue has a bound of
// its own: Redis' call_max, Kafka's message_max.
//
// Of what BookControl says, units travel another way: a release and a restock are release rows in
// PostgreSQL, written before this is told, and the relay brings them. A repair that changes what a book
// should know is a reason to rebuild.
//
// Thread safety: submit, set_pace, control, reinstate, take_lease and the figures from any thread.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "sale/waiting.hpp"
#include "store/book_control.hpp"
#include "store_cluster/cluster_acceptor.hpp"
#include "store_cluster/cluster_words.hpp"

namespace doorbuster {

class ClusterBooks final : public PurchaseDesk, public BookControl {
public:
    struct Options {
        RedisClient::Options redis;
        size_t in_hand_max = 16'384;  // purchases between submit and answer; a power of two
        Pacing pace{};
        milliseconds look_every{200};       // at every book: what other gates did is seen as late as this
        milliseconds word_wait_max{5'000};  // an operator waits for Redis no longer
        size_t control_capacity = 4'096;
        size_t reinstatements_max = 1'024;  // under way; the next one waits
    };
    // At the least, of books whose epoch is open: each is seen in every third turn, before what it shows
    // ends.
    static constexpr size_t looks_per_turn = 64, turns_per_look_max = 3;

    struct Hooks {
        std::function<void()> on_append;  // something new is in Kafka
        ClusterBucket::Doubted doubted;   // at most once a second and item; must not block
    };

    // The records must outlive it.
    ClusterBooks(KafkaRecords& records, const Options& options, Hooks hooks);
    ~ClusterBooks() override;

    void set_sinks(std::vector<ReplySink*> sinks);  // before start
    void start();
    // Answers all that was submitted, then ends the thread.
    void stop();

    // From the keeper, in the order in which they were granted.
    void take_lease(std::shared_ptr<const EpochLease> lease);

    [[nodiscard]] Submitted submit(PurchaseCommand&& command) override;
    uint64_t units_waited_for(ItemSlot slot) override { return waiting_.of(slot); }
    Figures figures() const override;
    void set_pace(const Pacing& pacing) override;

    void control(ControlCommand command, std::function<void()> applied = {}) override;
    void reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) override;

private:
    enum class Stage : uint8_t { not_started, running, stopping, stopped };
    struct Entry {
        std::shared_ptr<ClusterBucket> bucket;
        std::shared_ptr<ClusterAcceptor> acceptor;
        std::shared_ptr<ClusterBoard> board;
        std::shared_ptr<ClusterWords> words;
        Phase phase = Phase::not_ready;  // as this process was told last
    };
    struct Apply;
    using Key = std::pair<SaleId, ItemId>;
    struct KeyHash : SeededHash {
        size_t operator()(const Key& key) const {
            return fold(SeededHash::operator()(key.first), SeededHash::operator()(key.second) | 1);
        }
    };

    // On the loop.
    void drain_soon();  // from any thread
    void drain();
    void reply(const PurchaseCommand& command, std::chrono::nanoseconds began,
               const ClusterAcceptor::Outcome& outcome);
    void flush();
    void apply(ControlCommand& command, std::function<void()> applied);
    void reinstate_now(const Reinstatement& asked, std::function<void(const Reinstated&)> answered);
    void lease_to(Entry& entry) const;
    void turn();
    void end_if_idle();
    Entry* find(const SaleId& sale, const ItemId& item);
    Entry* at(ItemSlot slot);

    std::chrono::nanoseconds busy_wait() const;
    std::chrono::nanoseconds predicted_wait() const;

    KafkaRecords& records_;
    const Options options_;
    const Hooks hooks_;

    boost::asio::io_context loop_{1};
    const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        loop_.get_executor()};
    boost::asio::steady_timer timer_, pace_timer_;

    // Any thread.
    BoundedQueue<PurchaseCommand> queue_;
    WaitingUnits waiting_;
    PurchasePace pace_;
    std::atomic<Stage> stage_{Stage::not_started};
    std::atomic<int64_t> lease_ends_at_{0};  // of CLOCK_BOOTTIME, in ns
    std::atomic<size_t> in_hand_{0};
    std::atomic<bool> is_draining_{false};  // a drain is posted
    std::atomic<int64_t> usual_ns_{0};      // smoothed time from the queue to the answer
    std::atomic<uint64_t> batches_{0}, commands_{0}, acceptances_{0};

    // Guarded by room_mutex_, and so is every step of the stage.
    std::mutex room_mutex_;
    std::condition_variable room_;
    size_t controls_ = 0, reinstatements_ = 0;

    // The loop's.
    std::shared_ptr<const EpochLease> lease_;
    std::vector<std::unique_ptr<Entry>> entries_;  // by ItemSlot; null once closed
    boost::unordered_flat_map<Key, ItemSlot, KeyHash> slots_;
    std::vector<std::shared_ptr<ClusterAcceptor>> closed_;  // with something still under way
    std::vector<ReplySink*> sinks_;
    std::vector<std::vector<PurchaseReply>> replies_;  // by sink
    bool is_flushing_ = false;                         // a flush is posted
    size_t last_looked_at_ = 0;
    std::optional<RedisClient> redis_;  // goes before the loop

    std::thread thread_;
};

}  // namespace doorbuster
