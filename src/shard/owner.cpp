#include "shard/owner.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "base/threads.hpp"

namespace doorbuster {

namespace {

// Begun a moment later, a commit is shared by more. Only in a rush: where the last batch, less than a second
// ago, was of so many. Whoever comes alone does not wait for company.
constexpr size_t rush_size = 16;
constexpr std::chrono::microseconds gather{500};

int64_t steady_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

Owner::Owner(Shard& shard, Clock& clock, const Options& options, Hooks hooks)
    : shard_(shard),
      clock_(clock),
      options_(options),
      hooks_(std::move(hooks)),
      queue_(options.queue_capacity),
      pace_(options.pace) {
    batch_.reserve(options_.batch_max);
}

Owner::~Owner() {
    CHECK(!thread_.joinable());
}

void Owner::set_sinks(std::vector<ReplySink*> sinks) {
    shard_.set_sinks(std::move(sinks));
}

void Owner::start() {
    stage_.store(Stage::running, std::memory_order_release);
    thread_ = std::thread([this] {
        set_thread_up("owner", -1);
        run();
    });
}

Submitted Owner::submit(PurchaseCommand&& command) {
    if (stage_.load(std::memory_order_acquire) != Stage::running) return Submitted::rebuilding;
    if (predicted_wait() > pace_.wait_max()) return Submitted::overloaded;
    const ItemSlot slot = command.slot;
    const uint32_t units = command.units;
    waiting_.add(slot, units);  // before the owner can count it down
    if (!queue_.try_push(std::move(command))) {
        waiting_.remove(slot, units);
        return Submitted::overloaded;
    }
    wakeup_.wake();
    return Submitted::queued;
}

void Owner::set_pace(const Pacing& pacing) {
    pace_.set(pacing);
    wakeup_.wake();  // it may sleep by the old one
}

// What runs now has to end (it may run much longer than usual: a slow disk), then the
// queue goes in batches. Nothing under way means no wait, whatever the last batch took: so
// somebody gets in and finds out whether the disk is quick again.
std::chrono::nanoseconds Owner::busy_wait() const {
    const int64_t began = batch_began_ns_.load(std::memory_order_relaxed);
    const auto queued = static_cast<int64_t>(queue_.size());
    if (began == 0 && queued == 0) return std::chrono::nanoseconds(0);
    const int64_t usual = batch_ns_.load(std::memory_order_relaxed);
    const int64_t running = began == 0 ? 0 : std::max(usual, steady_ns() - began);
    const int64_t batches = 1 + queued / static_cast<int64_t>(options_.batch_max);
    return std::chrono::nanoseconds(running + batches * usual);
}

std::chrono::nanoseconds Owner::predicted_wait() const {
    return std::max(busy_wait(), pace_.wait_of(queue_.size()));
}

void Owner::control(ControlCommand command, std::function<void()> applied) {
    Control one{std::move(command), std::move(applied)};
    take_controls({&one, 1});
}

void Owner::control_all(std::vector<ControlCommand> commands) {
    std::vector<Control> all;
    all.reserve(commands.size());
    for (ControlCommand& command : commands) all.push_back({std::move(command), {}});
    // In pieces that find room: a full queue is worked off meanwhile.
    for (std::span<Control> rest = all; !rest.empty();) {
        const auto some = rest.first(std::min(rest.size(), options_.control_capacity));
        take_controls(some);
        rest = rest.subspan(some.size());
    }
}

void Owner::take_controls(std::span<Control> controls) {
    const Stage stage = stage_.load(std::memory_order_acquire);
    if (stage == Stage::not_started || stage == Stage::stopped) {
        // Before the start the caller's is the only thread. After the end nobody reads the
        // books any more: what the command says is recorded, and the next start sees it.
        for (Control& control : controls) {
            if (stage == Stage::not_started) shard_.apply(control.command);
            if (control.applied) control.applied();
        }
        return;
    }
    {
        std::unique_lock lock(control_mutex_);
        control_room_.wait(lock,
                           [&] { return controls_.size() + controls.size() <= options_.control_capacity; });
        std::move(controls.begin(), controls.end(), std::back_inserter(controls_));
        has_controls_.store(true, std::memory_order_release);
    }
    wakeup_.wake();
}

void Owner::reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) {
    {
        std::unique_lock lock(reinstate_mutex_);
        const auto is_running = [&] { return stage_.load(std::memory_order_acquire) == Stage::running; };
        reinstate_room_.wait(
            lock, [&] { return reinstatements_.size() < options_.reinstatements_max || !is_running(); });
        if (is_running()) {
            reinstatements_.push_back({asked, std::move(answered)});
            has_reinstatements_.store(true, std::memory_order_release);
            answered = nullptr;
        }
    }
    // Nobody decides any more, or not yet: the order still says that it has to be asked.
    if (answered) return answered({});
    wakeup_.wake();
}

void Owner::run() {
    constexpr auto quiet = std::chrono::seconds(1);  // long enough to be called that
    for (;;) {
        // Read before the queues are: what was submitted before stop() is then seen below.
        const bool stopping = stopping_.load(std::memory_order_acquire);
        const bool did_controls = run_controls();
        const bool did_batch = run_batch();
        if (did_controls || did_batch) continue;
        if (stopping && queue_.size() == 0) return;
        if (queue_.size() > 0) {
            wakeup_.sleep(pace_.wait());
            continue;
        }
        if (wakeup_.sleep(quiet) || stage_.load(std::memory_order_relaxed) != Stage::running) continue;
        batch_.clear();  // the rush is over
        if (const auto kept = shard_.idle(); !kept) fail(kept.error());
    }
}

bool Owner::run_controls() {
    if (!has_controls_.load(std::memory_order_acquire)) return false;
    std::vector<Control> taken;
    {
        std::lock_guard lock(control_mutex_);
        taken.swap(controls_);
        has_controls_.store(false, std::memory_order_relaxed);
    }
    control_room_.notify_all();
    // After a failure the books hold units that are not durable: nothing of them is shown any
    // more. What the command says is recorded, and the next start sees it.
    const bool applies = stage_.load(std::memory_order_relaxed) == Stage::running;
    for (Control& control : taken) {
        if (applies) shard_.apply(control.command);
        if (control.applied) control.applied();
    }
    return true;
}

void Owner::take_reinstatements() {
    batch_reinstatements_.clear();
    if (!has_reinstatements_.load(std::memory_order_acquire)) return;
    {
        std::lock_guard lock(reinstate_mutex_);
        batch_reinstatements_.swap(reinstatements_);
        has_reinstatements_.store(false, std::memory_order_relaxed);
    }
    reinstate_room_.notify_all();
}

bool Owner::run_batch() {
    take_reinstatements();
    if (queue_.size() == 0 && batch_reinstatements_.empty()) return false;
    // Not on the wakeup: everybody who comes would wake it.
    const bool is_rush = batch_.size() >= rush_size;
    if (is_rush && queue_.size() < options_.batch_max / 2) std::this_thread::sleep_for(gather);
    batch_.clear();
    const size_t most = pace_.take(std::min(options_.batch_max, queue_.size()), clock_.uptime(),
                                   stopping_.load(std::memory_order_acquire));
    for (PurchaseCommand command; batch_.size() < most && queue_.pop(command);) {
        waiting_.remove(command.slot, command.units);  // whoever hears an answer waits no more
        batch_.push_back(command);
    }
    if (batch_.empty() && batch_reinstatements_.empty()) return false;
    if (stage_.load(std::memory_order_relaxed) == Stage::failed) {
        shard_.abandon(batch_, batch_reinstatements_);
        return true;
    }

    const int64_t began = steady_ns();
    batch_began_ns_.store(began, std::memory_order_relaxed);
    const StoreResult<void> decided = shard_.decide(batch_, clock_.now(), batch_reinstatements_);
    const int64_t usual = batch_ns_.load(std::memory_order_relaxed);
    batch_ns_.store((usual * 7 + steady_ns() - began) / 8, std::memory_order_relaxed);
    batch_began_ns_.store(0, std::memory_order_relaxed);

    const size_t acceptances = shard_.last_acceptances();
    batches_.fetch_add(1, std::memory_order_relaxed);
    commands_.fetch_add(batch_.size(), std::memory_order_relaxed);
    if (!decided) {
        fail(decided.error());
        return true;
    }
    acceptances_.fetch_add(acceptances, std::memory_order_relaxed);
    if (acceptances > 0 && hooks_.on_append) hooks_.on_append();
    return true;
}

void Owner::fail(const StoreError& error) {
    {
        std::lock_guard lock(reinstate_mutex_);
        stage_.store(Stage::failed, std::memory_order_release);
    }
    reinstate_room_.notify_all();
    if (hooks_.on_failure) hooks_.on_failure(error);
}

void Owner::stop() {
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    wakeup_.wake();
    thread_.join();
    {
        std::lock_guard lock(reinstate_mutex_);
        stage_.store(Stage::stopped, std::memory_order_release);
    }
    reinstate_room_.notify_all();
    // Those that came between its last look and its end.
    run_controls();
    take_reinstatements();
    shard_.abandon({}, batch_reinstatements_);
}

Owner::Figures Owner::figures() const {
    return {.batches = batches_.load(std::memory_order_relaxed),
            .commands = commands_.load(std::memory_order_relaxed),
            .acceptances = acceptances_.load(std::memory_order_relaxed),
            .queued = queue_.size(),
            .predicted_wait = predicted_wait(),
            .busy_wait = busy_wait()};
}

}  // namespace doorbuster
