// SimulatedRedis: one address, and the servers that answered there one after the other.
//
// A server runs the product's functions over its own data. It may lose them, start again from a snapshot, or
// give way to a replica that is behind; whoever has a connection to the one before may go on talking to it.
//
// Thread safety: none.
#pragma once

#include <deque>

#include "sim/cluster_lua.hpp"
#include "sim/cluster_world.hpp"
#include "store_cluster/redis_client.hpp"

namespace doorbuster::sim::cluster {

// What the protocol says, as hiredis reads it.
RedisReplyPtr redis_reply_of(const std::string& protocol);

class RedisServer {
public:
    RedisServer(ClusterWorld& world, RedisData data);

    // The answer in Redis' protocol.
    std::string execute(const RedisCall& call);

    RedisData data;
    std::string run_id, replication_id;
    int64_t clock_us = 0;  // its own, as of the last call
    int64_t clock_ahead_us = 0;
    bool is_ended = false;  // nobody is answered any more
    bool takes_new = true;  // connections
    std::string new_id();
    void forget_functions() { functions_.reset(); }  // a snapshot that is loaded brings a fresh copy

private:
    ClusterWorld& world_;
    std::unique_ptr<LuaFunctions> functions_;
};

class SimulatedRedis {
public:
    explicit SimulatedRedis(ClusterWorld& world);

    // Faults that come over it by themselves.
    void turn();
    void heal();

    bool is_away() const { return is_away_; }
    const std::shared_ptr<RedisServer>& primary() const { return primary_; }

    // Blocking, for fibers of a node.
    RedisResult<std::unique_ptr<RedisCalls>> open();
    // For a gate.
    std::unique_ptr<RedisAsyncCalls> client(Node& node);

private:
    class Session;
    class Client;
    void keep_snapshot();
    const RedisData& an_older_snapshot();
    void replace(RedisData data);

    ClusterWorld& world_;
    std::shared_ptr<RedisServer> primary_;
    std::deque<RedisData> snapshots_;  // oldest first
    bool is_away_ = false;
};

}  // namespace doorbuster::sim::cluster
