// StoreError: what a store could not do, and whether it may have done it after all.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace doorbuster {

enum class StoreErrc : uint8_t {
    unavailable,   // cannot be reached or opened now
    full,          // no room left on its disk
    read_only,     // may not be written
    damaged,       // its contents cannot be right
    newer_schema,  // written by a newer version of this program
    in_use,        // another process has it
    conflict,      // the version or position is not the one expected
    not_found,
    exists,
    not_allowed,  // a step that the state tables or the constraints forbid
};

struct StoreError {
    StoreErrc code;
    std::string operation;  // what was tried, for people
    std::string detail;
    bool outcome_unknown = false;  // a write that may have landed: look it up, never compensate blindly

    std::string text() const { return detail.empty() ? operation : operation + ": " + detail; }
};

template <class T>
using StoreResult = Result<T, StoreError>;

// boost::system::result asks for this when value() is called on an error: a bug here.
[[noreturn]] inline void throw_exception_from_error(const StoreError& error, const boost::source_location&) {
    std::fprintf(stderr, "doorbuster: unchecked store error: %s\n", error.text().c_str());
    std::abort();
}

}  // namespace doorbuster
