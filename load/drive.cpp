#include "load/drive.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

namespace doorbuster::load {

namespace {

using std::chrono::steady_clock;

class Drive {
public:
    Drive(const Requests& requests, const DriveOptions& options)
        : requests_(requests), options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (epoll_.number() < 0) fail("epoll_create1");
    }

    Tally run() {
        std::vector<std::unique_ptr<Connection>> connections;
        for (size_t i = 0; i < std::min(options_.connections, requests_.size()); ++i) {
            connections.push_back(std::make_unique<Connection>());
            connections.back()->open(options_.target, epoll_);
        }
        const auto cpu_before = own_cpu();
        const auto began = steady_clock::now();
        ends_at_ = began + options_.time_max;
        for (const auto& connection : connections) send_next(*connection);
        while (in_flight_ > 0 && steady_clock::now() < ends_at_) take_events();
        tally_.elapsed = steady_clock::now() - began;
        tally_.cpu = own_cpu() - cpu_before;
        tally_.lost += in_flight_;
        tally_.not_sent = requests_.size() - next_;
        return tally_;
    }

private:
    void take_events() {
        constexpr int wait_ms_max = 100;
        std::array<epoll_event, 256> events;
        const int count =
            epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), wait_ms_max);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<size_t>(i)];
            auto& connection = *static_cast<Connection*>(event.data.ptr);
            connection.send_rest();
            if (connection.in_flight() && (event.events & ~EPOLLOUT) != 0) receive(connection);
        }
    }

    void send_next(Connection& connection) {
        if (next_ == requests_.size()) return;
        ++in_flight_;
        connection.send(requests_[next_++]);
    }

    void receive(Connection& connection) {
        AnswerHead head;
        switch (connection.receive(head)) {
            case Connection::Received::nothing_yet:
                return;
            case Connection::Received::answer:
                ++tally_.answers;
                ++tally_.by_status[static_cast<size_t>(head.status)];
                break;
            case Connection::Received::end:
                ++tally_.lost;
                connection.open(options_.target, epoll_);
        }
        --in_flight_;
        send_next(connection);
    }

    const Requests& requests_;
    const DriveOptions& options_;
    const Descriptor epoll_;
    steady_clock::time_point ends_at_{};
    size_t next_ = 0;       // the first request not sent yet
    size_t in_flight_ = 0;  // bound: the connections
    Tally tally_;
};

}  // namespace

std::chrono::nanoseconds own_cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto span = [](const timeval& time) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return span(usage.ru_utime) + span(usage.ru_stime);
}

Tally drive(const Requests& requests, const DriveOptions& options) {
    return Drive(requests, options).run();
}

}  // namespace doorbuster::load
