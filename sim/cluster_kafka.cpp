#include "sim/cluster_kafka.hpp"

#include <map>

namespace doorbuster::sim::cluster {

namespace {

constexpr int64_t message_us_max = 700'000;  // then a record is `unknown`
constexpr int64_t late_us_max = 5'000'000;   // behind that it lands no more
constexpr int64_t wait_step_us = 5'000;

}  // namespace

class SimulatedKafka::Producer final : public RecordSink {
public:
    Producer(SimulatedKafka& kafka, Node& node) : kafka_(kafka), node_(node), life_(node.life()) {}

    StoreResult<void> produce(const LedgerEntry& entry, Reported reported) override {
        return send(kafka_partition_of(entry.sale, entry.item, entry.bucket, kafka_.count()), encode(entry),
                    std::move(reported));
    }
    StoreResult<void> produce(const Seal& seal, int32_t partition, Reported reported) override {
        return send(partition, encode(seal), std::move(reported));
    }
    void wait(std::unique_lock<std::mutex>& lock, std::condition_variable&, milliseconds wait_max,
              const std::function<bool()>& is_done) override {
        const int64_t until_us = kafka_.world_.now_us() + wait_max.count() * 1000;
        while (!is_done() && kafka_.world_.now_us() < until_us) {
            lock.unlock();
            kafka_.world_.sleep(wait_step_us);
            lock.lock();
        }
    }

private:
    StoreResult<void> send(int32_t to, std::string bytes, Reported reported) {
        using enum ClusterFault;
        ClusterWorld& world = kafka_.world_;
        if (world.strikes(kafka_refused, 10)) return StoreError{StoreErrc::unavailable, "producing", "full"};
        const auto partition = static_cast<size_t>(to);
        int64_t lands_us = world.random.between(300, 2'000);
        if (world.strikes(kafka_slow, 60)) lands_us = world.random.between(20'000, message_us_max - 50'000);
        int64_t reports_us = lands_us + world.random.between(200, 1'000);
        bool lands = true;
        KafkaDelivery delivery = KafkaDelivery::durable;
        if (world.strikes(kafka_failed, 15)) {
            lands = false;
            delivery = KafkaDelivery::failed;
        } else if (world.strikes(kafka_unknown_landed, 25)) {
            delivery = KafkaDelivery::unknown;
            reports_us = message_us_max;
        } else if (world.strikes(kafka_unknown_never, 25)) {
            lands = false;
            delivery = KafkaDelivery::unknown;
            reports_us = message_us_max;
        } else if (world.strikes(kafka_unknown_late, 150)) {
            delivery = KafkaDelivery::unknown;
            lands_us = world.random.between(2 * message_us_max, late_us_max);
            reports_us = message_us_max;
        }
        // Behind what this producer has sent before.
        int64_t& last = lands_at_[to];
        last = std::max(last, world.now_us() + lands_us);
        reports_us = std::max(reports_us, last - world.now_us());
        if (lands) {
            ++kafka_.under_way_;
            world.after(last - world.now_us(),
                        [kafka = &kafka_, node = &node_, life = life_, partition, bytes = std::move(bytes)] {
                            land(*kafka, *node, life, partition, bytes);
                        });
        }
        node_.at(reports_us,
                 [reported = std::move(reported), delivery] { reported({.delivery = delivery}); });
        return {};
    }

    // The producer of a process that is dead or asleep may have sent it, or not.
    static void land(SimulatedKafka& kafka, const Node& node, uint64_t life, size_t partition,
                     const std::string& bytes) {
        ClusterWorld& world = kafka.world_;
        const bool is_dead = !node.is_alive() || node.life() != life;
        const int64_t asleep_us = node.paused_until_us() - world.now_us();
        if (!is_dead && asleep_us > 0 && world.random.chance(500)) {
            world.after(asleep_us, [&kafka, partition, bytes] {
                kafka.partitions_[partition].push_back(bytes);
                --kafka.under_way_;
            });
            return;
        }
        --kafka.under_way_;
        if (is_dead && world.random.chance(500)) return;
        kafka.partitions_[partition].push_back(bytes);
    }

    SimulatedKafka& kafka_;
    Node& node_;
    const uint64_t life_;
    std::map<int32_t, int64_t> lands_at_;
};

class SimulatedKafka::Reader final : public LedgerReader {
public:
    Reader(SimulatedKafka& kafka, uint64_t partition) : kafka_(kafka), partition_(partition) {}

    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override {
        kafka_.world_.sleep(kafka_.world_.random.between(100, 1'000));
        const auto& all = kafka_.partitions_[partition_];
        if (position > all.size()) return StoreError{StoreErrc::damaged, "reading", "no such position"};
        std::vector<LedgerRecord> records;
        for (uint64_t at = position; at < all.size() && records.size() < count_max; ++at) {
            KafkaRecord read = decode_record(all[at]);
            LedgerRecord record{.position = at + 1, .entry = {}};
            if (auto* entry = std::get_if<LedgerEntry>(&read)) record.entry = std::move(*entry);
            if (auto* seal = std::get_if<Seal>(&read)) record.seal = std::move(*seal);
            records.push_back(std::move(record));
        }
        return records;
    }
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t, const PurchaseId&) override {
        return std::optional<LedgerRecord>();
    }
    StoreResult<LedgerCut> end() override { return LedgerCut(kafka_.partitions_[partition_].size()); }

private:
    SimulatedKafka& kafka_;
    const uint64_t partition_;
};

std::unique_ptr<RecordSink> SimulatedKafka::producer(Node& node) {
    return std::make_unique<Producer>(*this, node);
}

std::unique_ptr<LedgerReader> SimulatedKafka::reader(uint64_t partition) {
    return std::make_unique<Reader>(*this, partition);
}

}  // namespace doorbuster::sim::cluster
