#include "sim/cluster_fiber.hpp"

#include <cxxabi.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/check.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace doorbuster::sim::cluster {

namespace {

constexpr size_t stack_bytes = 256 * 1024;

thread_local Fiber* running = nullptr;

// Those of fibers that have ended serve the next ones.
thread_local std::vector<std::unique_ptr<std::byte[]>> spare_stacks;

void swap_exceptions(void* (&kept)[2]) {
    void* now[2];
    auto* globals = abi::__cxa_get_globals();
    std::memcpy(now, static_cast<const void*>(globals), sizeof now);
    std::memcpy(static_cast<void*>(globals), kept, sizeof kept);
    std::memcpy(kept, now, sizeof kept);
}

}  // namespace

struct Fiber::Stack {
    Stack() {
        if (spare_stacks.empty()) {
            bytes.reset(new std::byte[stack_bytes]);
        } else {
            bytes = std::move(spare_stacks.back());
            spare_stacks.pop_back();
        }
    }
    ~Stack() { spare_stacks.push_back(std::move(bytes)); }
    std::unique_ptr<std::byte[]> bytes;
};

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(std::make_unique<Stack>()) {
    CHECK(getcontext(&inside_) == 0);
    inside_.uc_stack.ss_sp = stack_->bytes.get();
    inside_.uc_stack.ss_size = stack_bytes;
    inside_.uc_link = nullptr;
    makecontext(&inside_, &Fiber::enter, 0);
#if defined(__SANITIZE_THREAD__)
    shadow_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
    CHECK(has_ended_ || !has_begun_);
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(shadow_);
#endif
}

Fiber* Fiber::current() {
    return running;
}

void Fiber::resume() {
    CHECK(running == nullptr && !has_ended_);
    has_begun_ = true;
    running = this;
    swap_exceptions(exceptions_);
#if defined(__SANITIZE_ADDRESS__)
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, stack_->bytes.get(), stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
    outer_shadow_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(shadow_, 0);
#endif
    swapcontext(&outside_, &inside_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
    swap_exceptions(exceptions_);
    running = nullptr;
}

void Fiber::go_out() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(has_ended_ ? nullptr : &shadow_, outer_bottom_, outer_size_);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(outer_shadow_, 0);
#endif
    swapcontext(&inside_, &outside_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(shadow_, &outer_bottom_, &outer_size_);
#endif
}

void Fiber::yield() {
    CHECK(running != nullptr);
    running->go_out();
}

void Fiber::enter() {
    Fiber* const self = running;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &self->outer_bottom_, &self->outer_size_);
#endif
    self->body_();
    self->body_ = nullptr;
    self->has_ended_ = true;
    self->go_out();
}

}  // namespace doorbuster::sim::cluster
