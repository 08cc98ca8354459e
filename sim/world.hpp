// World: virtual time, the network, the disk, the process that crashes and restarts, and those
// outside it: the payment provider and the shop that hears of events.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "sim/process.hpp"
#include "sim/provider.hpp"
#include "sim/random.hpp"
#include "sim/receiver.hpp"
#include "sim/run.hpp"

namespace doorbuster::sim {

constexpr int64_t ms = 1000;  // virtual time is counted in microseconds

class World {
public:
    World(uint64_t seed, const Trace& trace);

    // Does `what` after a virtual wait.
    void after(int64_t wait_us, std::function<void()> what);
    // Does everything that is due until nothing is left or `until_us` is reached.
    void run_until(int64_t until_us);

    // Sends an ask to whatever process is there when it arrives; `heard` gets the answer if
    // one comes back. Asks may be lost, repeated, delayed and reordered, answers lost.
    void send(const Ask& ask, std::function<void(const Answer&)> heard);

    void note(const std::string& line);
    void happened(Fault fault);
    void broke(const std::string& what) { broken.push_back(what); }

    // Faults on or off. Off: what is dead is started again.
    void set_faulty(bool faulty);
    bool faulty() const { return faulty_; }
    // Lets time pass in which nobody did anything.
    void skip(int64_t wait_us) { now_us_ += wait_us; }

    Process* process() { return process_.get(); }
    int64_t now_us() const { return now_us_; }
    Instant wall_now() { return clock_.now(); }

    // Checks each answer at the moment it leaves the process.
    std::function<void(const Ask&, const Answer&)> judge;
    // Checks each write of the orders at the moment it is durable.
    std::function<void(std::span<const OrderId>)> judge_commit;

    Random random;
    LedgerState ledger;
    OrdersState orders;
    Provider provider{*this};
    Receiver receiver{*this};
    std::set<OrderId> refunds_asked;  // by the shop
    Coverage coverage;
    std::vector<std::string> broken;
    uint64_t fingerprint = 0;

private:
    // The machine's clock: jumps, and forgets at a restart what it had shown before.
    struct WallClock final : Clock {
        explicit WallClock(const World& of) : world(of) {}
        const World& world;
        Instant shown{};
        Instant now() override {
            shown = std::max(shown, from_ms(world.wall_ms()));
            return shown;
        }
        Uptime uptime() override { return Uptime(world.now_us_); }
    };
    struct Wait {
        std::function<void(const Answer&)> heard;
    };

    int64_t wall_ms() const { return 1796126400000 + now_us_ / ms + clock_offset_ms_; }
    Sale make_sale();
    void start_process();
    Process::Outside outside();
    void die(const char* how);
    void start_later();
    void stop();
    // Runs a step of the process that is there now, and buries it if it does not survive.
    template <class Step>
    void alive(Step step);
    void schedule_steps();
    void emit(const Ask& ask, const Answer& answer);
    void arrive(const Ask& ask);

    const Trace trace_;
    const uint64_t seed_;
    int64_t now_us_ = 0;
    int64_t clock_offset_ms_ = 0;
    uint64_t events_ = 0;
    std::map<std::pair<int64_t, uint64_t>, std::function<void()>> agenda_;
    bool faulty_ = true;
    Disk disk_;
    WallClock clock_;
    std::unique_ptr<Process> process_;
    uint64_t life_ = 0;  // counts the processes
    std::map<uint32_t, Wait> waiting_;
    int64_t last_arrival_us_ = 0;
};

template <class Step>
void World::alive(Step step) {
    if (!process_) return;
    try {
        if (!step(*process_)) die("ended with exit code 1");
    } catch (const Crash&) {
        die("crashed");
    }
}

}  // namespace doorbuster::sim
