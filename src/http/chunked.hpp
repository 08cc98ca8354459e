// ChunkDecoder: takes the chunks of a body apart, in place.
//
// Extensions and trailers are read over; a size beyond 32 bits is an overflow attempt and
// malformed, a smaller one that passes the limit is too large before its bytes are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace doorbuster {

class ChunkDecoder {
public:
    enum class Status : uint8_t { more_needed, complete, malformed, too_large };
    struct Step {
        Status status;
        size_t consumed;  // of `raw`; all of it unless the body is complete
    };

    // Appends what `raw` carries to the body at `body`.
    // REQUIRES: body + body_size() <= raw.data(), in the same buffer.
    [[nodiscard]] Step decode(char* body, std::string_view raw, size_t body_bytes_max);

    size_t body_size() const { return body_size_; }
    void reset() { *this = {}; }

private:
    enum class State : uint8_t {
        size_first,
        size,
        extension,
        size_feed,
        data,
        data_return,
        data_feed,
        trailer_first,
        trailer,
        trailer_feed,
        last_feed,
    };

    // Judges one byte of framing.
    Status take(char c, size_t body_bytes_max);

    static constexpr size_t digits_max = 8;
    static constexpr size_t framing_bytes_max = 4096;  // extensions and trailers of one body together

    State state_ = State::size_first;
    size_t digits_ = 0;
    uint64_t chunk_left_ = 0;
    size_t framing_bytes_ = 0;
    size_t body_size_ = 0;
};

}  // namespace doorbuster
