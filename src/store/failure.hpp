// What a store could not do. Inside an adapter a failure is thrown; at the port it becomes a
// StoreError, by guarded() or written(). Nothing of it leaves the adapters.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "store/errors.hpp"

namespace doorbuster {

class StoreFailure : public std::exception {
public:
    StoreFailure(StoreErrc code, std::string detail, bool outcome_unknown = false)
        : code_(code), detail_(std::move(detail)), outcome_unknown_(outcome_unknown) {}
    // What somebody else said; the operation is the one that it ends.
    explicit StoreFailure(const StoreError& error)
        : StoreFailure(error.code, error.detail, error.outcome_unknown) {}

    const char* what() const noexcept override { return detail_.c_str(); }
    StoreError error(std::string_view operation) const {
        return {code_, std::string(operation), detail_, outcome_unknown_};
    }

private:
    StoreErrc code_;
    std::string detail_;
    bool outcome_unknown_;
};

// Runs `body`; what it throws becomes the error of `operation`.
template <class Body>
auto guarded(std::string_view operation, Body&& body) -> StoreResult<decltype(body())> {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return {};
        } else {
            return body();
        }
    } catch (const StoreFailure& failure) {
        return failure.error(operation);
    }
}

// As guarded(), for what writes. The first commit whose outcome is unknown stays in `failure`, and
// nothing is written after it: memory and store may no longer agree.
template <class Body>
auto written(std::optional<StoreError>& failure, std::string_view operation, Body&& body)
    -> StoreResult<decltype(body())> {
    if (failure) return *failure;
    auto done = guarded(operation, std::forward<Body>(body));
    if (done.has_error() && done.error().outcome_unknown) failure = done.error();
    return done;
}

// For what our own tables must hold: anything else means that they are damaged.
template <class T>
T required(std::optional<T> value, std::string_view what) {
    if (!value) throw StoreFailure(StoreErrc::damaged, "unreadable " + std::string(what));
    return *std::move(value);
}

}  // namespace doorbuster
