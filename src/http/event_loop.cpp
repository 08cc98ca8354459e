#include "http/event_loop.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.hpp"

namespace doorbuster {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Descriptor opened(int number, const char* what) {
    if (number < 0) throw std::system_error(errno, std::generic_category(), what);
    return Descriptor(number);
}

bool add(const Descriptor& epoll, const Descriptor& added, uint32_t events, void* owner) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = owner;
    return ::epoll_ctl(epoll.number(), EPOLL_CTL_ADD, added.number(), &event) == 0;
}

}  // namespace

void EventLoop::Timer::set(Time due, Task task) {
    if (!task_) loop_.timers_.push_back(this);
    due_ = due;
    task_ = std::move(task);
}

void EventLoop::Timer::cancel() {
    if (!task_) return;
    task_ = nullptr;
    std::erase(loop_.timers_, this);
}

EventLoop::EventLoop()
    : epoll_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      waker_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
    // By edges: every write to it is an event, and nobody has to read it.
    if (!add(epoll_, waker_, EPOLLIN | EPOLLET, nullptr)) {
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
}

bool EventLoop::watch(const Descriptor& socket, Watcher& watcher) {
    return add(epoll_, socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &watcher);
}

void EventLoop::forget(Watcher& watcher) {
    for (int i = event_; i < events_size_; ++i) {
        epoll_event& event = events_[static_cast<size_t>(i)];
        if (event.data.ptr == &watcher) event.data.ptr = nullptr;
    }
    if (resting_ == &watcher) resting_ = nullptr;
    if (!std::exchange(watcher.is_due_again_, false)) return;
    std::replace(again_now_.begin(), again_now_.end(), &watcher, static_cast<Watcher*>(nullptr));
    std::erase(again_, &watcher);
}

void EventLoop::again(Watcher& watcher) {
    if (!std::exchange(watcher.is_due_again_, true)) again_.push_back(&watcher);
}

void EventLoop::at_next_call(Watcher& watcher) {
    CHECK(resting_ == nullptr);
    resting_ = &watcher;
}

void EventLoop::count_calls(size_t count) {
    if (count == 0) return;
    calls_total_ += count;
    if (resting_ != nullptr) std::exchange(resting_, nullptr)->ready({});
}

void EventLoop::post(Task task) {
    {
        std::lock_guard lock(mutex_);
        posted_.push_back(std::move(task));
        // Whoever posted first has woken it, and it looks by itself before it waits.
        if (has_posted_.exchange(true) || std::this_thread::get_id() == runs_on_) return;
    }
    wake();
}

void EventLoop::run() {
    {
        std::lock_guard lock(mutex_);
        runs_on_ = std::this_thread::get_id();
    }
    while (!is_stopped_.load(std::memory_order_relaxed)) turn(wait_ms());
    std::lock_guard lock(mutex_);
    runs_on_ = {};
}

bool EventLoop::run_once() {
    return turn(0);
}

void EventLoop::stop() {
    is_stopped_.store(true);
    wake();
}

void EventLoop::wake() {
    const uint64_t one = 1;
    // Never full: that would take longer than anybody will run this.
    CHECK(::write(waker_.number(), &one, sizeof one) == static_cast<ssize_t>(sizeof one));
}

// Rounded up: a timer is late by a millisecond rather than early.
int EventLoop::wait_ms() const {
    constexpr milliseconds longest{60'000};
    if (!again_.empty() || has_posted_.load()) return 0;
    if (timers_.empty()) return static_cast<int>(longest.count());
    const Time now = steady_clock::now();
    const Time due = (*std::min_element(timers_.begin(), timers_.end(), [](const Timer* a, const Timer* b) {
                         return a->due_ < b->due_;
                     }))->due_;
    if (due <= now) return 0;
    return static_cast<int>(std::min(longest, std::chrono::ceil<milliseconds>(due - now)).count());
}

bool EventLoop::turn(int wait_ms) {
    bool did_something = take_events(wait_ms);
    did_something = take_again() || did_something;
    did_something = take_posted() || did_something;
    return take_timers() || did_something;
}

bool EventLoop::take_events(int wait_ms) {
    const int size = ::epoll_wait(epoll_.number(), events_.data(), static_cast<int>(events_.size()), wait_ms);
    CHECK(size >= 0 || errno == EINTR);
    events_size_ = std::max(size, 0);
    count_calls(static_cast<size_t>(events_size_));
    for (event_ = 0; event_ < events_size_; ++event_) {
        const epoll_event& event = events_[static_cast<size_t>(event_)];
        if (event.data.ptr == nullptr) continue;  // the waker, or forgotten meanwhile
        constexpr uint32_t end = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
        static_cast<Watcher*>(event.data.ptr)
            ->ready({.readable = (event.events & (EPOLLIN | end)) != 0,
                     .writable = (event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0,
                     .ended = (event.events & end) != 0});
    }
    event_ = events_size_ = 0;
    return size > 0;
}

bool EventLoop::take_again() {
    if (again_.empty()) return false;
    again_now_.swap(again_);
    count_calls(again_now_.size());
    for (size_t i = 0; i < again_now_.size(); ++i) {
        if (again_now_[i] == nullptr) continue;  // forgotten meanwhile
        Watcher& watcher = *std::exchange(again_now_[i], nullptr);
        watcher.is_due_again_ = false;
        watcher.ready({.readable = true});
    }
    again_now_.clear();
    return true;
}

bool EventLoop::take_posted() {
    if (!has_posted_.load()) return false;
    {
        std::lock_guard lock(mutex_);
        tasks_now_.swap(posted_);
        has_posted_.store(false);
    }
    for (const Task& task : tasks_now_) task();
    tasks_now_.clear();
    return true;
}

bool EventLoop::take_timers() {
    if (timers_.empty()) return false;
    bool did_something = false;
    const Time now = steady_clock::now();
    // Backwards: what a task sets anew goes to the end, and is looked at in the next turn.
    for (size_t i = timers_.size(); i-- > 0;) {
        if (i >= timers_.size() || timers_[i]->due_ > now) continue;
        Timer& timer = *timers_[i];
        const Task task = std::exchange(timer.task_, nullptr);
        std::erase(timers_, &timer);
        count_calls(1);
        task();
        did_something = true;
    }
    return did_something;
}

}  // namespace doorbuster
