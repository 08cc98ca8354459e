#include "http/gate.hpp"

#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/threads.hpp"
#include "http/connections.hpp"
#include "http/delay_probe.hpp"
#include "http/event_loop.hpp"
#include "http/listener.hpp"

namespace doorbuster {

struct Gate::State {
    State(Gate& gate, uint16_t own_index, const GateOptions& own_options)
        : index(own_index),
          cpu(own_options.cpu),
          listener(loop, own_options.listen),
          connections(gate, loop, own_options, [this] { listener.room_again(); }),
          ticker(loop),
          probe(loop, sensor) {}

    void run();
    void tick();
    void take_replies();

    const uint16_t index;
    const int cpu;

    // The gate thread's. The loop goes last: what is open belongs to it.
    EventLoop loop;
    Listener listener;
    Connections connections;
    EventLoop::Timer ticker;
    DelaySensor sensor;
    DelayProbe probe;
    Handler* handler = nullptr;
    std::vector<PurchaseReply> taken;  // kept for its memory

    // Guarded by the mutex.
    std::mutex mutex;
    std::vector<PurchaseReply> replies;  // bound: the exchanges in hand
    bool taking_is_posted = false;

    std::thread thread;
};

Gate::Gate(uint16_t index, const GateOptions& options)
    : state_(std::make_unique<State>(*this, index, options)) {}

Gate::~Gate() {
    stop();
}

void Gate::set_handler(Handler& handler) {
    CHECK(!state_->thread.joinable());
    state_->handler = &handler;
    state_->connections.set_handler(handler);
}

void Gate::start() {
    CHECK(state_->handler != nullptr && !state_->thread.joinable());
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

uint16_t Gate::index() const {
    return state_->index;
}
uint16_t Gate::port() const {
    return state_->listener.port();
}
size_t Gate::connections_max() const {
    return state_->connections.options()->connections_max;
}
DelaySensor& Gate::delay_sensor() {
    state_->loop.post([state = state_.get()] { state->probe.begin(); });
    return state_->sensor;
}
GateFigures Gate::figures() const {
    return state_->connections.figures();
}

void Gate::State::run() {
    set_thread_up("gate-" + std::to_string(index), cpu);
    listener.start(connections);
    tick();
    loop.run();
}

void Gate::State::tick() {
    connections.tick(std::chrono::steady_clock::now());
    connections.gather([this] { handler->tick(); });
    ticker.set(std::chrono::steady_clock::now() + Connections::tick_every, [this] { tick(); });
}

void Gate::set_options(const GateOptions& options) {
    post([state = state_.get(), options] { state->connections.set_options(options); });
}

void Gate::post(std::function<void()> task) {
    state_->loop.post([state = state_.get(), task = std::move(task)] { state->connections.gather(task); });
}

void Gate::deliver(std::span<const PurchaseReply> replies) {
    {
        std::lock_guard lock(state_->mutex);
        state_->replies.insert(state_->replies.end(), replies.begin(), replies.end());
        if (std::exchange(state_->taking_is_posted, true)) return;
    }
    state_->loop.post([state = state_.get()] { state->take_replies(); });
}

void Gate::State::take_replies() {
    {
        std::lock_guard lock(mutex);
        taken.swap(replies);
        taking_is_posted = false;
    }
    connections.gather([this] {
        for (const PurchaseReply& reply : taken) {
            handler->purchase_decided(*static_cast<Exchange*>(reply.reply_to), reply);
        }
    });
    taken.clear();
}

void Gate::drain(std::function<void()> drained) {
    state_->loop.post([state = state_.get(), drained = std::move(drained)]() mutable {
        state->listener.stop();
        state->connections.drain(std::move(drained));
    });
}

void Gate::stop() {
    CHECK(std::this_thread::get_id() != state_->thread.get_id());
    state_->loop.stop();
    if (state_->thread.joinable()) state_->thread.join();
    state_->connections.clear();
    state_->listener.close();
}

}  // namespace doorbuster
