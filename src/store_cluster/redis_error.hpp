// RedisError: why Redis gave no answer, and whether the call may have had its effect all the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/result.hpp"

namespace doorbuster {

enum class RedisErrc : uint8_t {
    unreachable,  // no connection, or it ended before the answer
    late,         // no answer in time
    busy,         // as much is under way as may be; nothing was sent
    fenced,       // not the Redis, or not the epoch, that the caller's lease names
    newer,        // load: a book of the same or of a newer epoch is there
    missing,      // the functions are not there
    refused,      // Redis says no: out of memory, read-only, loading, not permitted, malformed
    garbled,      // an answer that cannot be right
};

// None of these says anything about stock: to a buyer they are 503.
struct RedisError {
    RedisErrc code;
    std::string detail;
    bool outcome_unknown = false;  // it may have landed: repeat it with the same id, never compensate
};

template <class T>
using RedisResult = Result<T, RedisError>;

// boost::system::result asks for this when value() is called on an error: a bug here.
[[noreturn]] inline void throw_exception_from_error(const RedisError& error, const boost::source_location&) {
    std::fprintf(stderr, "doorbuster: unchecked Redis error: %s\n", error.detail.c_str());
    std::abort();
}

}  // namespace doorbuster
