// EventLoop: what one gate thread waits for: sockets, timers, and work from other threads.
//
// Sockets are watched for both directions from the start, by edges: their watcher is called when
// something is new, and remembers it until it has used it up. So a request costs a read and a
// write, and many share one wait. (Asio tries every read before it waits for it, and most of
// those fail, since the client has yet to hear the answer: bench/RESULTS.md.)
//
// A turn: the sockets that are ready, those that asked to be called again, what was posted, the timers that
// are due. Whoever has more to do than one turn's share asks to be called again, so nobody keeps the others
// waiting.
//
// Thread safety: post and stop from any thread; the rest on the thread that runs it, or while none does.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"

namespace doorbuster {

class EventLoop {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Task = std::function<void()>;

    struct Readiness {
        bool readable = false;  // bytes, a connection, or the end of what there is to read
        bool writable = false;
        bool ended = false;  // the other side sends no more, or the socket broke: a read tells which
    };

    class Watcher {
    public:
        virtual ~Watcher() = default;
        virtual void ready(Readiness) = 0;

    private:
        friend class EventLoop;
        bool is_due_again_ = false;
    };

    // One task, once, at a time. REQUIRES: it goes before its loop.
    class Timer {
    public:
        explicit Timer(EventLoop& loop) : loop_(loop) {}
        ~Timer() { cancel(); }
        Timer(const Timer&) = delete;
        Timer& operator=(const Timer&) = delete;

        void set(Time due, Task task);  // in the place of what was set before
        void cancel();

    private:
        friend class EventLoop;
        EventLoop& loop_;
        Time due_{};
        Task task_;  // none: not set
    };

    // Throws std::system_error where the process has run out of file descriptors.
    EventLoop();

    // False, with errno, if the kernel has no room for one more.
    [[nodiscard]] bool watch(const Descriptor& socket, Watcher& watcher);
    // Before the socket is closed: nothing that is known of it already reaches the watcher any more.
    void forget(Watcher& watcher);
    // The watcher is told in the next turn that it can read; once, however often it asks.
    void again(Watcher& watcher);

    // The watcher is told, once, before the next watcher or timer is called: for one who rests meanwhile.
    // There is one.
    void at_next_call(Watcher& watcher);
    // How often watchers and timers were called, or are in line to be in this turn.
    uint64_t calls_total() const { return calls_total_; }

    void post(Task task);  // runs on the loop's thread, in order

    void run();       // until stop()
    bool run_once();  // one turn, without waiting; false if there was nothing to do
    void stop();

private:
    bool turn(int wait_ms);
    int wait_ms() const;
    // False if there was nothing.
    bool take_events(int wait_ms);
    bool take_again();
    bool take_posted();
    bool take_timers();
    void wake();
    void count_calls(size_t count);

    const Descriptor epoll_, waker_;
    std::atomic<bool> is_stopped_{false};

    // The loop's thread's.
    std::array<epoll_event, 256> events_{};
    int event_ = 0, events_size_ = 0;  // the one in hand, of so many
    uint64_t calls_total_ = 0;
    Watcher* resting_ = nullptr;
    std::vector<Watcher*> again_;  // bound: one for each socket
    std::vector<Watcher*> again_now_;
    std::vector<Timer*> timers_;   // those that are set; few
    std::vector<Task> tasks_now_;  // kept for its memory

    std::atomic<bool> has_posted_{false};  // also read without the mutex, by the loop
    std::mutex mutex_;
    std::vector<Task> posted_;   // guarded by the mutex; bound: what posts is bounded
    std::thread::id runs_on_{};  // guarded by the mutex
};

}  // namespace doorbuster
