// Schedule: when each request of an open crowd is due, whatever the server does.
//
// A crowd does not wait for answers before more of it arrives. Phases follow each other; within
// one the arrivals are evenly spaced.
//
// Thread safety: const calls from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace doorbuster::load {

struct Phase {
    double rate_per_second = 0;
    double seconds = 0;
};

class Schedule {
public:
    using Span = std::chrono::nanoseconds;

    explicit Schedule(const std::vector<Phase>& phases);

    // "2000:3,16000:5": 2,000 a second for three seconds, then 16,000 for five.
    static std::optional<std::vector<Phase>> parse(std::string_view text);

    size_t size() const { return size_; }
    Span length() const { return length_; }

    // From the beginning. REQUIRES: arrival < size().
    Span due(size_t arrival) const;

private:
    struct Part {
        size_t first;  // arrival
        Span begins;
        double ns_each;
    };
    std::vector<Part> parts_;
    size_t size_ = 0;
    Span length_{0};
};

}  // namespace doorbuster::load
