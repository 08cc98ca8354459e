// A place for what a test's requests do not touch: nothing is ever built in it.
#pragma once

#include <cstddef>

namespace doorbuster::testing {

template <class T>
T& untouched() {
    alignas(T) static std::byte room[sizeof(T)];
    return reinterpret_cast<T&>(room);
}

}  // namespace doorbuster::testing
