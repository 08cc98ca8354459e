// SharedMarks: what may happen once among all gates of a cluster, each by a mark of 64 bits.
//
// A gate that has let something happen asks whether it was the first of all, and says nothing to
// anybody before it knows: an answer that is not known is a no for now.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.hpp"

namespace doorbuster {

enum class MarkOutcome : uint8_t {
    first,    // nobody had set it
    again,    // it was set before
    unknown,  // no answer: it may be set now
};

class SharedMarks {
public:
    using Answered = std::function<void(MarkOutcome)>;  // on any thread

    // Sets the mark for as long as `life`. `answered` is called once, within a bounded time, if and only
    // if this is true; false: there is no room, and nothing was set. From any thread; never blocks.
    // REQUIRES: life is at least a millisecond.
    [[nodiscard]] virtual bool set(uint64_t mark, milliseconds life, Answered answered) = 0;

protected:
    ~SharedMarks() = default;
};

}  // namespace doorbuster
