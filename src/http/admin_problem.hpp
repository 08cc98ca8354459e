// What the operator hears when a store refuses or fails.
#pragma once

#include "http/replies.hpp"

namespace doorbuster {

inline Problem admin_problem(const StoreError& error) {
    switch (error.code) {
        case StoreErrc::not_found:
            return {Code::not_found, error.detail};
        case StoreErrc::not_allowed:
        case StoreErrc::conflict:
            return {Code::wrong_state, error.detail};
        case StoreErrc::unavailable:
            return {Code::overloaded, error.detail};
        default:
            break;
    }
    Problem problem = failed_store(error);
    problem.detail = error.text();  // the operator is the one who can do something about it
    return problem;
}

}  // namespace doorbuster
