// Fiber: code that waits in the middle of a function while others go on, all on one thread.
//
// What the product does on threads of its own, blocking at its stores, runs here as it is: a store's
// simulation yields where the real one would let it wait.
//
// Thread safety: none; a fiber stays on the thread that made it.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace doorbuster::sim::cluster {

class Fiber {
public:
    explicit Fiber(std::function<void()> body);
    // REQUIRES: it has ended, or was never resumed.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Runs it until it yields or ends. From outside any fiber.
    void resume();
    // Back to whoever resumed it. From within one.
    static void yield();
    static Fiber* current();

    bool has_begun() const { return has_begun_; }
    bool has_ended() const { return has_ended_; }

private:
    struct Stack;
    static void enter();
    void go_out();

    std::function<void()> body_;
    std::unique_ptr<Stack> stack_;
    ucontext_t inside_{}, outside_{};
    bool has_begun_ = false, has_ended_ = false;

    // What the language runtime and the sanitizers keep per thread, and a fiber has to itself.
    void* exceptions_[2] = {};
    [[maybe_unused]] void* shadow_ = nullptr;
    [[maybe_unused]] void* outer_shadow_ = nullptr;
    [[maybe_unused]] const void* outer_bottom_ = nullptr;
    [[maybe_unused]] size_t outer_size_ = 0;
};

}  // namespace doorbuster::sim::cluster
