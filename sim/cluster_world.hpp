// ClusterWorld: virtual time, chance, and the processes that crash and sleep.
//
// Everything that happens is an event of one agenda. A node's events reach it only while it lives, and wait
// while it sleeps (SIGSTOP); its fibers wait in the stores' simulations, and end by `Crashed` there.
//
// Thread safety: none.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster_fiber.hpp"
#include "sim/cluster_run.hpp"
#include "sim/random.hpp"
#include "store_cluster/pg_lease_time.hpp"

namespace doorbuster::sim::cluster {

struct Crashed {};  // thrown through the code of a node that dies

class ClusterWorld;

class Node {
public:
    // Its boot clock goes wrong by so many parts in a thousand.
    Node(ClusterWorld& world, std::string name, int64_t clock_per_mille)
        : world_(world), name_(std::move(name)), clock_per_mille_(clock_per_mille) {}

    // Does `what` after a while, if this life of the node lasts as long.
    void at(int64_t wait_us, std::function<void()> what);
    // A thread of the node.
    void spawn(std::function<void()> body);

    // A life. `settle` follows everything that happens in it.
    void begin(std::function<void()> settle = {});
    void crash();  // from outside its fibers
    void pause(int64_t for_us);
    void wake() { paused_until_us_ = 0; }

    bool is_alive() const { return is_alive_; }
    bool is_crashing() const { return is_crashing_; }
    uint64_t life() const { return life_; }
    int64_t paused_until_us() const { return paused_until_us_; }
    const std::string& name() const { return name_; }
    pg::BootTime boot_time(int64_t now_us) const;

private:
    friend class ClusterWorld;
    void arrive(uint64_t life, const std::function<void()>& what);

    ClusterWorld& world_;
    const std::string name_;
    const int64_t clock_per_mille_;
    uint64_t life_ = 0;
    bool is_alive_ = false, is_crashing_ = false;
    int64_t paused_until_us_ = 0;
    std::function<void()> settle_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
};

class ClusterWorld final : public pg::VirtualTime {
public:
    ClusterWorld(uint64_t seed, const Trace& trace);
    ~ClusterWorld() override;

    void after(int64_t wait_us, std::function<void()> what);
    void run_until(int64_t until_us);
    // Of the fiber that asks. Throws Crashed.
    void sleep(int64_t for_us);

    int64_t now_us() const { return now_us_; }
    Instant wall_now() const { return from_ms(1796126400000 + now_us_ / 1000); }

    // pg::VirtualTime
    pg::BootTime now() override;
    void pause(std::chrono::microseconds wait) override;

    void note(const std::string& line);
    void broke(const std::string& what);
    void happened(ClusterFault fault);
    // Whether this fault is to happen now. A seed has only some of them.
    bool strikes(ClusterFault fault, uint32_t per_mille);
    bool is_faulty() const { return is_faulty_; }
    void end_faults() { is_faulty_ = false; }
    // Nothing that was to happen happens any more.
    void clear() { agenda_.clear(); }

    Node* current() { return current_; }
    bool is_crashing() const { return current_ != nullptr && current_->is_crashing(); }

    Random random;
    ClusterCoverage coverage;
    std::vector<std::string> broken;
    uint64_t fingerprint = 0;

private:
    friend class Node;
    void run_as(Node& node, const std::function<void()>& what);

    const Trace trace_;
    int64_t now_us_ = 0;
    uint64_t events_ = 0;
    std::map<std::pair<int64_t, uint64_t>, std::function<void()>> agenda_;
    bool is_faulty_ = true;
    std::array<bool, cluster_fault_names.size()> has_fault_{};
    Node* current_ = nullptr;
};

}  // namespace doorbuster::sim::cluster
