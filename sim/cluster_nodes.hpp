// The processes of the cluster: what the product runs in each, on the simulated stores.
#pragma once

#include <boost/asio/io_context.hpp>

#include "sim/cluster_kafka.hpp"
#include "sim/cluster_postgres.hpp"
#include "sim/cluster_redis.hpp"
#include "store_cluster/cluster_acceptor.hpp"
#include "store_cluster/cluster_board.hpp"
#include "store_cluster/redis_caller.hpp"

namespace doorbuster::sim::cluster {

struct Stores {
    SimulatedRedis& redis;
    SimulatedKafka& kafka;
    SimulatedPostgres& postgres;
};

// How long leases last, and all that goes by them.
struct ClusterTimes {
    milliseconds lease{1'000}, drift{100};
    milliseconds partition_lease{1'500};
    milliseconds takeover_after{5'000};
};
constexpr ClusterTimes cluster_times{};
constexpr int64_t clock_per_mille_max = 30;  // what the drift allows for

// A process that can be begun, again and again.
class Process {
public:
    Process(ClusterWorld& world, const Stores& stores, const std::string& name)
        : world_(world),
          stores_(stores),
          node_(world, name, world.random.between(-clock_per_mille_max, clock_per_mille_max)) {}
    virtual ~Process() = default;

    virtual void begin() = 0;
    virtual void end() { node_.crash(); }
    Node& node() { return node_; }

protected:
    RedisCaller::Options redis_caller() {
        return {
            .address = {}, .setup = {}, .open = [this](const auto&, auto) { return stores_.redis.open(); }};
    }

    ClusterWorld& world_;
    const Stores stores_;
    Node node_;
};

// Acceptor, board and lease of every item.
class Gate final : public Process {
public:
    struct Answer {
        ClusterHeard heard;
        Book::ReserveAnswer book{};
    };
    using Answered = std::function<void(const Answer&)>;

    Gate(ClusterWorld& world, const Stores& stores, const std::string& name, std::vector<BookBucket> items);
    ~Gate() override { end(); }

    void begin() override;
    void end() override;
    // On its node. `answered` is called once, or never if it dies.
    void ask(const ItemId& item, const ReserveEntry& entry, Answered answered);

private:
    struct Entry {
        std::shared_ptr<ClusterBucket> bucket;
        std::shared_ptr<ItemBoard> shown;
        std::shared_ptr<ClusterBoard> board;
        std::shared_ptr<ClusterAcceptor> acceptor;
    };
    struct Life {
        boost::asio::io_context loop{1};
        std::unique_ptr<RedisAsyncCalls> redis;
        std::unique_ptr<RecordSink> records;
        std::map<std::string, Entry> entries;  // by item
    };

    void keep_lease();
    void look();

    const std::vector<BookBucket> items_;
    std::unique_ptr<Life> life_;
};

// Sweeper and relay.
class Helper final : public Process {
public:
    using Process::Process;
    ~Helper() override { end(); }
    void begin() override;

private:
    void run();
};

class Worker final : public Process {
public:
    using Process::Process;
    ~Worker() override { end(); }
    void begin() override;

private:
    void run();
    uint32_t lives_ = 0;
};

class Coordinator final : public Process {
public:
    using Process::Process;
    ~Coordinator() override { end(); }
    void begin() override;

private:
    void run();
};

// Orders that are cancelled or not paid in time, and units that the shop adds.
class Desk final : public Process {
public:
    using Process::Process;
    ~Desk() override { end(); }
    void begin() override;
    void go_home() { goes_home_ = true; }
    bool is_home() const { return is_home_; }

private:
    void run();
    bool turn(Orders& orders);
    bool goes_home_ = false, is_home_ = false;
};

}  // namespace doorbuster::sim::cluster
