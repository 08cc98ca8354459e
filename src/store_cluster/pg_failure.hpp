// What PostgreSQL could not do, thrown inside this folder.
#pragma once

#include <string>
#include <utility>

#include "store/failure.hpp"

namespace doorbuster::pg {

class Failure : public StoreFailure {
public:
    using StoreFailure::StoreFailure;

    std::string constraint;  // the one that was violated, if one was
};

// Somebody else was faster, or two stood in each other's way. Nothing was done; worth another try.
class Contention : public Failure {
public:
    explicit Contention(std::string detail) : Failure(StoreErrc::unavailable, std::move(detail)) {}
};

using doorbuster::guarded;
using doorbuster::required;

}  // namespace doorbuster::pg
