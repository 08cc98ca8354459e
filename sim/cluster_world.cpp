#include "sim/cluster_world.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace doorbuster::sim::cluster {

namespace {

constexpr size_t broken_max = 20;

}  // namespace

ClusterWorld::ClusterWorld(uint64_t seed, const Trace& trace) : random(seed), trace_(trace) {
    for (bool& has : has_fault_) has = random.chance(600);
    pg::virtual_time = this;
}

ClusterWorld::~ClusterWorld() {
    pg::virtual_time = nullptr;
}

void ClusterWorld::after(int64_t wait_us, std::function<void()> what) {
    agenda_.emplace(std::pair(now_us_ + wait_us, ++events_), std::move(what));
}

void ClusterWorld::run_until(int64_t until_us) {
    while (!agenda_.empty() && agenda_.begin()->first.first <= until_us) {
        const auto next = agenda_.extract(agenda_.begin());
        now_us_ = next.key().first;
        next.mapped()();
    }
    now_us_ = until_us;
}

void ClusterWorld::sleep(int64_t for_us) {
    Fiber* const fiber = Fiber::current();
    Node* const node = current_;
    CHECK(fiber != nullptr && node != nullptr);
    if (node->is_crashing()) throw Crashed{};
    node->at(for_us, [fiber] { fiber->resume(); });
    Fiber::yield();
    if (node->is_crashing()) throw Crashed{};
}

pg::BootTime ClusterWorld::now() {
    return current_ != nullptr ? current_->boot_time(now_us_) : std::chrono::microseconds(now_us_);
}

void ClusterWorld::pause(std::chrono::microseconds wait) {
    coverage.did(ClusterDeed::contention);
    if (Fiber::current() != nullptr) sleep(random.between(0, wait.count()));
}

void ClusterWorld::note(const std::string& line) {
    fingerprint =
        fold(fingerprint ^ static_cast<uint64_t>(now_us_) ^ 0x9e3779b97f4a7c15, seeded_hash(line, 1));
    if (trace_) {
        trace_(fmt::format("{:>10.3f} ms  {:<12} {}", static_cast<double>(now_us_) / 1000.0,
                           current_ != nullptr ? current_->name() : "", line));
    }
}

void ClusterWorld::broke(const std::string& what) {
    note("broken: " + what);
    if (broken.size() < broken_max) broken.push_back(what);
}

void ClusterWorld::happened(ClusterFault fault) {
    ++coverage.fault_count[static_cast<size_t>(fault)];
    note(fmt::format("fault: {}", cluster_fault_names[static_cast<size_t>(fault)]));
}

bool ClusterWorld::strikes(ClusterFault fault, uint32_t per_mille) {
    if (!is_faulty_ || !has_fault_[static_cast<size_t>(fault)] || !random.chance(per_mille)) return false;
    happened(fault);
    return true;
}

void ClusterWorld::run_as(Node& node, const std::function<void()>& what) {
    Node* const before = std::exchange(current_, &node);
    what();
    current_ = before;
}

void Node::at(int64_t wait_us, std::function<void()> what) {
    world_.after(wait_us, [this, life = life_, what = std::move(what)] { arrive(life, what); });
}

void Node::arrive(uint64_t life, const std::function<void()>& what) {
    if (!is_alive_ || life != life_) return;
    const int64_t asleep_us = paused_until_us_ - world_.now_us();
    if (asleep_us > 0) {
        world_.after(asleep_us, [this, life, what] { arrive(life, what); });
        return;
    }
    world_.run_as(*this, [&] {
        what();
        if (settle_) settle_();
    });
}

void Node::spawn(std::function<void()> body) {
    fibers_.push_back(std::make_unique<Fiber>([body = std::move(body)] {
        try {
            body();
        } catch (const Crashed&) {
        }
    }));
    at(0, [fiber = fibers_.back().get()] { fiber->resume(); });
}

void Node::begin(std::function<void()> settle) {
    ++life_;
    settle_ = std::move(settle);
    is_alive_ = true;
}

void Node::crash() {
    CHECK(Fiber::current() == nullptr);
    if (!is_alive_) return;
    is_alive_ = false;
    is_crashing_ = true;
    paused_until_us_ = 0;
    world_.run_as(*this, [&] {
        for (const auto& fiber : fibers_) {
            if (fiber->has_begun() && !fiber->has_ended()) fiber->resume();
        }
    });
    fibers_.clear();
    settle_ = nullptr;
    is_crashing_ = false;
}

void Node::pause(int64_t for_us) {
    paused_until_us_ = world_.now_us() + for_us;
}

// As far as the hardware lets a clock go wrong, and a lease allows for.
pg::BootTime Node::boot_time(int64_t now_us) const {
    return std::chrono::microseconds(now_us + now_us / 1000 * clock_per_mille_);
}

}  // namespace doorbuster::sim::cluster
