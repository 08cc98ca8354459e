// Webhook: one message to the merchant, waiting for its time.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"

namespace doorbuster::sandbox {

enum class Forgery : uint8_t {
    none,
    wrong_signature,  // signed with a secret that is not the merchant's
    old_timestamp,    // signed as it should be, and an hour old
};

struct Webhook {
    std::string id;
    std::string body;
    Forgery forgery = Forgery::none;
    Uptime due{};
};

}  // namespace doorbuster::sandbox
