// Owner: the thread that owns every book, and the queues that lead to it.
//
// Purchases come through a bounded queue that says no when it is full or when the
// predicted wait is above the limit: before anything is taken. They leave it in the order in
// which they came, whichever gate they came from, and no faster than the pace. Releases and the
// operator's words come through a second one whose putters wait instead, reinstatements through
// a third of that kind: they go before the purchases of the next batch, without a pace.
//
// Thread safety: submit, set_pace, control, reinstate and the figures from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "base/clock.hpp"
#include "base/wakeup.hpp"
#include "sale/waiting.hpp"
#include "shard/command.hpp"
#include "shard/shard.hpp"
#include "store/book_control.hpp"
#include "store/errors.hpp"
#include "store/purchase_desk.hpp"

namespace doorbuster {

class Owner final : public PurchaseDesk, public BookControl {
public:
    struct Options {
        size_t queue_capacity = 16384;  // power of two
        size_t batch_max = 1024;
        size_t control_capacity = 4096;
        size_t reinstatements_max = 1024;  // that wait; the next putter waits with them
        Pacing pace{};
    };

    // `sinks` are addressed by PurchaseCommand::sink. `on_append` is called after every
    // append (the worker may have something to do), `on_failure` once, when the ledger
    // failed: those waiting have then heard `unknown`, and the process must end.
    struct Hooks {
        std::function<void()> on_append;
        std::function<void(const StoreError&)> on_failure;
    };

    Owner(Shard& shard, Clock& clock, const Options& options, Hooks hooks);
    ~Owner() override;

    void set_sinks(std::vector<ReplySink*> sinks);  // before start
    void start();

    [[nodiscard]] Submitted submit(PurchaseCommand&& command) override;
    void set_pace(const Pacing& pacing) override;
    uint64_t units_waited_for(ItemSlot slot) override { return waiting_.of(slot); }
    void control(ControlCommand command, std::function<void()> applied = {}) override;
    void control_all(std::vector<ControlCommand> commands) override;
    void reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) override;

    // Decides all that was submitted, then ends the thread. REQUIRES: nobody submits any more.
    void stop();

    Figures figures() const override;

private:
    struct Control {
        ControlCommand command;
        std::function<void()> applied;
    };

    enum class Stage : uint8_t { not_started, running, failed, stopped };

    void run();
    void take_controls(std::span<Control> controls);
    bool run_controls();
    bool run_batch();
    void take_reinstatements();
    void fail(const StoreError& error);
    std::chrono::nanoseconds busy_wait() const;
    std::chrono::nanoseconds predicted_wait() const;

    Shard& shard_;
    Clock& clock_;
    const Options options_;
    const Hooks hooks_;

    // Any thread.
    BoundedQueue<PurchaseCommand> queue_;
    WaitingUnits waiting_;
    Wakeup wakeup_;
    std::atomic<Stage> stage_{Stage::not_started};
    std::atomic<bool> stopping_{false};
    std::atomic<int64_t> batch_ns_{0};        // smoothed time of a batch, its commit included
    std::atomic<int64_t> batch_began_ns_{0};  // of the one being decided; 0: none is

    // Guarded by control_mutex_.
    std::mutex control_mutex_;
    std::condition_variable control_room_;
    std::vector<Control> controls_;
    std::atomic<bool> has_controls_{false};

    // Guarded by reinstate_mutex_, and so is the step to `stopped`.
    std::mutex reinstate_mutex_;
    std::condition_variable reinstate_room_;
    std::vector<ReinstateCommand> reinstatements_;
    std::atomic<bool> has_reinstatements_{false};

    // The owner thread's; the counters are read by others.
    PurchasePace pace_;
    std::vector<PurchaseCommand> batch_;
    std::vector<ReinstateCommand> batch_reinstatements_;
    std::atomic<uint64_t> batches_{0}, commands_{0}, acceptances_{0};

    std::thread thread_;
};

}  // namespace doorbuster
