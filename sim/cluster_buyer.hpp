// A buyer: asks at one gate or another, repeats with the same key or with a new one, and gives up.
#pragma once

#include "sim/cluster_judge.hpp"

namespace doorbuster::sim::cluster {

// Where buyers ask: the network, and whichever gates are there.
class Counter {
public:
    using Heard = std::function<void(ClusterHeard)>;

    Counter(ClusterWorld& world, ClusterJudge& judge, std::vector<Gate*> gates)
        : world_(world), judge_(judge), gates_(std::move(gates)) {}

    // `heard` is called once: with the answer, or with `nothing` when patience ends.
    void ask(size_t gate, const BookBucket& item, const ReserveEntry& entry, Heard heard);
    size_t gates() const { return gates_.size(); }

private:
    ClusterWorld& world_;
    ClusterJudge& judge_;
    const std::vector<Gate*> gates_;
};

class ClusterBuyer {
public:
    ClusterBuyer(ClusterWorld& world, Counter& counter, const std::vector<BookBucket>& items, uint32_t number)
        : world_(world), counter_(counter), items_(items), buyer_(fmt::format("buyer-{}", number)) {}

    void begin();
    void go_home() { goes_home_ = true; }
    bool is_home() const { return goes_home_ && !is_waiting_; }

private:
    void choose();
    void ask();
    void heard(ClusterHeard heard);

    ClusterWorld& world_;
    Counter& counter_;
    const std::vector<BookBucket>& items_;
    const BuyerId buyer_;
    size_t item_ = 0, gate_ = 0;
    uint32_t keys_ = 0;
    std::string key_;
    uint32_t units_ = 1;
    bool goes_home_ = false, is_waiting_ = false;
};

}  // namespace doorbuster::sim::cluster
