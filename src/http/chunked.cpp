#include "http/chunked.hpp"

#include <algorithm>
#include <cstring>

namespace doorbuster {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_text(char c) {
    return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7f : c == '\t';
}

}  // namespace

ChunkDecoder::Step ChunkDecoder::decode(char* body, std::string_view raw, size_t body_bytes_max) {
    size_t at = 0;
    while (at < raw.size()) {
        if (state_ == State::data) {
            const size_t part = static_cast<size_t>(std::min<uint64_t>(chunk_left_, raw.size() - at));
            std::memmove(body + body_size_, raw.data() + at, part);
            body_size_ += part;
            chunk_left_ -= part;
            at += part;
            if (chunk_left_ == 0) state_ = State::data_return;
            continue;
        }
        const Status status = take(raw[at++], body_bytes_max);
        if (status != Status::more_needed) return {status, at};
    }
    return {Status::more_needed, at};
}

ChunkDecoder::Status ChunkDecoder::take(char c, size_t body_bytes_max) {
    using enum Status;
    switch (state_) {
        case State::size_first:
        case State::size: {
            if (const int digit = hex_digit(c); digit >= 0) {
                if (++digits_ > digits_max) return malformed;
                chunk_left_ = chunk_left_ << 4 | static_cast<uint64_t>(digit);
                state_ = State::size;
                return more_needed;
            }
            if (state_ == State::size_first || (c != ';' && c != '\r')) return malformed;
            if (chunk_left_ > body_bytes_max - body_size_) return too_large;
            state_ = c == '\r' ? State::size_feed : State::extension;
            return more_needed;
        }
        case State::extension:
            if (c == '\r') {
                state_ = State::size_feed;
                return more_needed;
            }
            if (!is_text(c)) return malformed;
            return ++framing_bytes_ > framing_bytes_max ? malformed : more_needed;
        case State::size_feed:
            digits_ = 0;
            state_ = chunk_left_ == 0 ? State::trailer_first : State::data;
            return c == '\n' ? more_needed : malformed;
        case State::data_return:
            state_ = State::data_feed;
            return c == '\r' ? more_needed : malformed;
        case State::data_feed:
            state_ = State::size_first;
            return c == '\n' ? more_needed : malformed;
        case State::trailer_first:
            if (c == '\r') {
                state_ = State::last_feed;
                return more_needed;
            }
            state_ = State::trailer;
            if (!is_text(c) || c == ' ' || c == '\t') return malformed;
            return ++framing_bytes_ > framing_bytes_max ? malformed : more_needed;
        case State::trailer:
            if (c == '\r') {
                state_ = State::trailer_feed;
                return more_needed;
            }
            if (!is_text(c)) return malformed;
            return ++framing_bytes_ > framing_bytes_max ? malformed : more_needed;
        case State::trailer_feed:
            state_ = State::trailer_first;
            return c == '\n' ? more_needed : malformed;
        case State::last_feed:
            return c == '\n' ? complete : malformed;
        case State::data:
            break;  // not framing
    }
    return malformed;
}

}  // namespace doorbuster
