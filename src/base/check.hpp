// CHECK: a broken invariant stops the process, in every build.
//
// Only for bugs. What a client, a peer or a disk can cause is a refusal or a Result.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace doorbuster {

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "doorbuster: CHECK failed: %s (%s:%d)\n", expression, file, line);
    std::abort();
}

}  // namespace doorbuster

#define CHECK(expression) \
    ((expression) ? static_cast<void>(0) : ::doorbuster::check_failed(#expression, __FILE__, __LINE__))
