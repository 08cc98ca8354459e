// What PostgreSQL could not do. Inside this folder a failure is thrown; the adapters turn it into a
// StoreError at the port, with guarded(). Nothing of it leaves the folder.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "store/errors.hpp"

namespace doorbuster::pg {

class Failure : public std::exception {
public:
    Failure(StoreErrc code, std::string detail, bool outcome_unknown = false)
        : code_(code), detail_(std::move(detail)), outcome_unknown_(outcome_unknown) {}

    std::string constraint;  // the one that was violated, if one was

    const char* what() const noexcept override { return detail_.c_str(); }
    StoreError error(std::string_view operation) const {
        return {code_, std::string(operation), detail_, outcome_unknown_};
    }

private:
    StoreErrc code_;
    std::string detail_;
    bool outcome_unknown_;
};

// Somebody else was faster, or two stood in each other's way. Nothing was done; worth another try.
class Contention : public Failure {
public:
    explicit Contention(std::string detail) : Failure(StoreErrc::unavailable, std::move(detail)) {}
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
    } catch (const Failure& failure) {
        return failure.error(operation);
    }
}

// For what our own tables must hold: anything else means that they are damaged.
template <class T>
T required(std::optional<T> value, std::string_view what) {
    if (!value) throw Failure(StoreErrc::damaged, "unreadable " + std::string(what));
    return *std::move(value);
}

}  // namespace doorbuster::pg
