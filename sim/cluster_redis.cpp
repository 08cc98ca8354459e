#include "sim/cluster_redis.hpp"

#include <hiredis/read.h>

#include "store_cluster/redis_library.hpp"

namespace doorbuster::sim::cluster {

namespace {

constexpr size_t snapshots_max = 12;
constexpr int64_t turn_us = 100'000;
constexpr int64_t call_us_max = 500'000;  // then an answer is late

}  // namespace

RedisReplyPtr redis_reply_of(const std::string& protocol) {
    struct End {
        void operator()(redisReader* reader) const { redisReaderFree(reader); }
    };
    const std::unique_ptr<redisReader, End> reader(redisReaderCreate());
    void* reply = nullptr;
    CHECK(redisReaderFeed(reader.get(), protocol.data(), protocol.size()) == REDIS_OK);
    CHECK(redisReaderGetReply(reader.get(), &reply) == REDIS_OK && reply != nullptr);
    return RedisReplyPtr(static_cast<redisReply*>(reply));
}

RedisServer::RedisServer(ClusterWorld& world, RedisData own) : data(std::move(own)), world_(world) {
    run_id = new_id();
    replication_id = new_id();
}

std::string RedisServer::new_id() {
    return fmt::format("{:016x}", world_.random.next());
}

std::string RedisServer::execute(const RedisCall& call) {
    clock_us = to_ms(world_.wall_now()) * 1000 + clock_ahead_us;
    if (call.at(0) == "FUNCTION") {
        data.has_library = true;
        functions_.reset();
        return "+doorbuster\r\n";
    }
    CHECK(call.at(0).starts_with("FCALL"));
    if (!data.has_library) return "-ERR Function not found\r\n";
    if (!functions_) {
        functions_ = std::make_unique<LuaFunctions>(
            LuaFunctions::Host{data, run_id, replication_id, clock_us}, redis_library());
    }
    const auto keys_end = call.begin() + 3 + std::stol(call.at(2));
    return functions_->call(call.at(1), {call.begin() + 3, keys_end}, {keys_end, call.end()});
}

// One connection; every call waits for its answer.
class SimulatedRedis::Session final : public RedisCalls {
public:
    Session(SimulatedRedis& redis, std::shared_ptr<RedisServer> server)
        : redis_(redis), server_(std::move(server)) {}

    RedisResult<RedisReplyPtr> run(const RedisCall& call) override {
        ClusterWorld& world = redis_.world_;
        if (is_broken()) return RedisError{RedisErrc::unreachable, "the connection has ended", true};
        const int64_t there_us = world.random.between(100, 600);
        world.sleep(world.strikes(ClusterFault::redis_slow, 10) ? there_us * 300 : there_us);
        if (is_broken() || world.strikes(ClusterFault::redis_call_lost, 8)) return lost();
        const std::string answer = server_->execute(call);
        world.sleep(world.random.between(100, 600));
        if (is_broken() || world.strikes(ClusterFault::redis_answer_lost, 8)) return lost();
        return redis_reply_of(answer);
    }
    bool is_broken() const override { return is_lost_ || server_->is_ended || redis_.is_away_; }

private:
    RedisError lost() {
        is_lost_ = true;
        return {RedisErrc::unreachable, "the connection has ended", true};
    }

    SimulatedRedis& redis_;
    const std::shared_ptr<RedisServer> server_;
    bool is_lost_ = false;
};

// The gate's: dials again by itself.
class SimulatedRedis::Client final : public RedisAsyncCalls {
public:
    Client(SimulatedRedis& redis, Node& node) : redis_(redis), node_(node) {}

    RedisResult<void> call(const RedisCall& call, RedisAnswered answered) override {
        ClusterWorld& world = redis_.world_;
        if (server_ && (server_->is_ended || is_lost_)) server_.reset();
        if (!server_ && redis_.primary_->takes_new) server_ = redis_.primary_;
        is_lost_ = false;
        if (!server_ || redis_.is_away_) return RedisError{RedisErrc::unreachable, "no connection to Redis"};
        int64_t there_us = world.random.between(100, 600);
        if (world.strikes(ClusterFault::redis_slow, 10)) there_us = world.random.between(10'000, 700'000);
        const int64_t back_us = there_us + world.random.between(100, 600);
        const bool is_call_lost = world.strikes(ClusterFault::redis_call_lost, 8);
        const bool is_answer_lost = world.strikes(ClusterFault::redis_answer_lost, 8);
        // What has left the gate arrives, whatever becomes of the gate.
        const auto answer = std::make_shared<std::optional<std::string>>();
        if (!is_call_lost) {
            world.after(there_us, [this_redis = &redis_, server = server_, call, answer] {
                if (!server->is_ended && !this_redis->is_away_) *answer = server->execute(call);
            });
        }
        const bool is_heard = !is_call_lost && !is_answer_lost && back_us < call_us_max;
        node_.at(is_heard ? back_us : call_us_max, [this, answer, is_heard, answered = std::move(answered)] {
            if (is_heard && *answer) {
                const RedisReplyPtr reply = redis_reply_of(**answer);
                return answered(RedisResult<const redisReply*>(reply.get()));
            }
            is_lost_ = true;
            answered(RedisError{RedisErrc::late, "no answer in time", true});
        });
        return {};
    }

private:
    SimulatedRedis& redis_;
    Node& node_;
    std::shared_ptr<RedisServer> server_;
    bool is_lost_ = false;
};

SimulatedRedis::SimulatedRedis(ClusterWorld& world)
    : world_(world), primary_(std::make_shared<RedisServer>(world, RedisData{})) {
    world_.after(turn_us, [this] { turn(); });
}

RedisResult<std::unique_ptr<RedisCalls>> SimulatedRedis::open() {
    world_.sleep(world_.random.between(100, 600));
    if (is_away_) return RedisError{RedisErrc::unreachable, "nobody is there"};
    return std::unique_ptr<RedisCalls>(std::make_unique<Session>(*this, primary_));
}

std::unique_ptr<RedisAsyncCalls> SimulatedRedis::client(Node& node) {
    return std::make_unique<Client>(*this, node);
}

void SimulatedRedis::keep_snapshot() {
    snapshots_.push_back(primary_->data);
    if (snapshots_.size() > snapshots_max) snapshots_.pop_front();
}

const RedisData& SimulatedRedis::an_older_snapshot() {
    return snapshots_[world_.random.below(snapshots_.size())];
}

// Another process answers from now on.
void SimulatedRedis::replace(RedisData data) {
    const auto before = primary_;
    primary_ = std::make_shared<RedisServer>(world_, std::move(data));
    if (world_.strikes(ClusterFault::redis_split, 500)) {
        before->takes_new = false;
        world_.after(world_.random.between(100'000, 3'000'000), [before] { before->is_ended = true; });
    } else {
        before->is_ended = true;
    }
    snapshots_.clear();
}

void SimulatedRedis::turn() {
    world_.after(turn_us, [this] { turn(); });
    keep_snapshot();
    using enum ClusterFault;
    if (is_away_) {
        is_away_ = !world_.random.chance(200);
        return;
    }
    if (world_.strikes(redis_lost, 6)) {
        primary_->is_ended = true;
        replace({});
    } else if (world_.strikes(redis_restarted, 6)) {
        primary_->is_ended = true;
        replace(an_older_snapshot());
    } else if (world_.strikes(redis_rolled_back, 8)) {
        replace(an_older_snapshot());
    } else if (world_.strikes(redis_demoted, 6)) {
        primary_->data = an_older_snapshot();
        primary_->replication_id = primary_->new_id();
        primary_->forget_functions();
        snapshots_.clear();
        keep_snapshot();
    } else if (world_.strikes(redis_away, 6)) {
        is_away_ = true;
    } else if (world_.strikes(redis_clock_jump, 10)) {
        primary_->clock_ahead_us += world_.random.between(-2'000'000, 2'000'000);
    }
}

void SimulatedRedis::heal() {
    is_away_ = false;
}

}  // namespace doorbuster::sim::cluster
