#include "sim/cluster_buyer.hpp"

namespace doorbuster::sim::cluster {

namespace {

constexpr int64_t us_per_ms = 1000;
constexpr int64_t patience_us = 2'500 * us_per_ms;

}  // namespace

void Counter::ask(size_t gate, const BookBucket& item, const ReserveEntry& entry, Heard heard) {
    ++world_.coverage.asks;
    const auto is_over = std::make_shared<bool>(false);
    const auto hear = [this, is_over, heard = std::move(heard)](ClusterHeard what) {
        if (std::exchange(*is_over, true)) return;
        if (what == ClusterHeard::nothing) ++world_.coverage.heard_count[static_cast<size_t>(what)];
        heard(what);
    };
    world_.after(patience_us, [hear] { hear(ClusterHeard::nothing); });
    Gate& there = *gates_[gate];
    there.node().at(world_.random.between(200, 3'000), [this, &there, item, entry, hear] {
        there.ask(item.item, entry, [this, item, entry, hear](const Gate::Answer& answer) {
            judge_.answered(item, entry, answer);
            if (world_.strikes(ClusterFault::answer_lost, 20)) return;
            world_.after(world_.random.between(200, 3'000), [hear, what = answer.heard] { hear(what); });
        });
    });
}

void ClusterBuyer::begin() {
    world_.after(world_.random.between(0, 300) * us_per_ms, [this] {
        choose();
        ask();
    });
}

void ClusterBuyer::choose() {
    item_ = world_.random.below(items_.size());
    gate_ = world_.random.below(counter_.gates());
    key_ = fmt::format("key-{}", ++keys_);
    units_ = item_ == 0 || world_.random.chance(700) ? 1 : 2;
}

void ClusterBuyer::ask() {
    if (goes_home_) return;
    is_waiting_ = true;
    const BookBucket& item = items_[item_];
    counter_.ask(
        gate_, item,
        {.purchase = purchase_id_of(item.sale, item.item, buyer_, key_), .buyer = buyer_, .units = units_},
        [this](ClusterHeard what) { heard(what); });
}

void ClusterBuyer::heard(ClusterHeard what) {
    using enum ClusterHeard;
    is_waiting_ = false;
    const bool is_sure = what != unknown && what != nothing && what != rebuilding;
    int64_t wait_us = world_.random.between(1, 60) * us_per_ms;
    if (world_.random.chance(is_sure ? 350 : 750)) {
        if (world_.random.chance(400)) {
            gate_ = world_.random.below(counter_.gates());
            world_.happened(ClusterFault::retry_elsewhere);
        } else {
            world_.happened(ClusterFault::retry_same_key);
        }
        if (is_sure && world_.random.chance(300)) wait_us = world_.random.between(500, 4'000) * us_per_ms;
    } else if (is_sure || world_.random.chance(700)) {
        choose();
        if (!is_sure) world_.happened(ClusterFault::retry_new_key);
        wait_us = world_.random.between(10, 300) * us_per_ms;
    } else {
        choose();
        wait_us = world_.random.between(500, 2'000) * us_per_ms;
    }
    world_.after(wait_us, [this] { ask(); });
}

}  // namespace doorbuster::sim::cluster
