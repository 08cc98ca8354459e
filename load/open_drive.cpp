#include "load/open_drive.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "load/drive.hpp"

namespace doorbuster::load {

namespace {

using std::chrono::steady_clock;

class OpenDrive {
public:
    OpenDrive(const Requests& requests, const Schedule& schedule, const OpenDriveOptions& options)
        : requests_(requests),
          schedule_(schedule),
          options_(options),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          size_(schedule.size()) {
        if (epoll_.number() < 0) fail("epoll_create1");
        tally_.fates.resize(size_);
    }

    OpenTally run() {
        std::vector<std::unique_ptr<Connection>> connections;
        for (size_t i = 0; i < options_.connections; ++i) {
            connections.push_back(std::make_unique<Connection>());
            connections.back()->open(options_.target, epoll_);
            free_.push_back(connections.back().get());
        }
        const auto cpu_before = own_cpu();
        began_ = steady_clock::now();
        const auto ends_at = schedule_.length() + options_.drain_max;
        while ((next_ < size_ || free_.size() < connections.size()) && now() < ends_at) {
            const int wait_ms = send_due();
            take_events(wait_ms);
        }
        tally_.elapsed = now();
        tally_.cpu = own_cpu() - cpu_before;
        return std::move(tally_);
    }

private:
    std::chrono::nanoseconds now() const { return steady_clock::now() - began_; }

    // How long may be waited for events until the next one is due.
    int send_due() {
        for (const auto at = now(); next_ < size_; ++next_) {
            const auto late = at - schedule_.due(next_);
            if (late < std::chrono::nanoseconds(0)) {
                return static_cast<int>(std::min<int64_t>(100, -late / std::chrono::milliseconds(1)));
            }
            if (was_full_ && late > options_.patience) {
                tally_.fates[next_] = {Fate::left,
                                       static_cast<uint32_t>(late / std::chrono::microseconds(1))};
            } else if (!free_.empty()) {
                if (!was_full_) tally_.sent_late_max = std::max(tally_.sent_late_max, late);
                Connection& connection = *free_.back();
                free_.pop_back();
                connection.request = next_;
                connection.send(next_request());
            } else {
                was_full_ = true;
                return 1;
            }
        }
        return 10;
    }

    // Whoever leaves needs none: the others take them in turn.
    std::string_view next_request() {
        if (sent_ == requests_.size())
            throw std::runtime_error("more got a turn than purchases were made ready");
        return requests_[sent_++];
    }

    void take_events(int wait_ms) {
        std::array<epoll_event, 256> events;
        const int count =
            epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), wait_ms);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<size_t>(i)];
            auto& connection = *static_cast<Connection*>(event.data.ptr);
            connection.send_rest();
            if (connection.in_flight() && (event.events & ~EPOLLOUT) != 0) receive(connection);
        }
        // Caught up: from here on lateness is ours again.
        if (was_full_ && !free_.empty() && (next_ == size_ || schedule_.due(next_) > now()))
            was_full_ = false;
    }

    void receive(Connection& connection) {
        Fate& fate = tally_.fates[connection.request];
        AnswerHead head;
        switch (connection.receive(head)) {
            case Connection::Received::nothing_yet:
                return;
            case Connection::Received::answer:
                fate.status = static_cast<int16_t>(head.status);
                break;
            case Connection::Received::end:
                fate.status = Fate::lost;
                connection.open(options_.target, epoll_);
        }
        const auto waited = now() - schedule_.due(connection.request);
        fate.waited_us = static_cast<uint32_t>(waited / std::chrono::microseconds(1));
        free_.push_back(&connection);
    }

    const Requests& requests_;
    const Schedule& schedule_;
    const OpenDriveOptions& options_;
    const Descriptor epoll_;
    const size_t size_;
    steady_clock::time_point began_{};
    size_t next_ = 0;  // the first that is neither sent nor left
    size_t sent_ = 0;
    std::vector<Connection*> free_;  // bound: the connections
    bool was_full_ = false;          // requests wait for a connection
    OpenTally tally_;
};

}  // namespace

OpenTally open_drive(const Requests& requests, const Schedule& schedule, const OpenDriveOptions& options) {
    return OpenDrive(requests, schedule, options).run();
}

}  // namespace doorbuster::load
