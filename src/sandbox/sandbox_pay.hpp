// `doorbuster sandbox-pay`: the sandbox provider as a process of its own.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/standard_webhooks.hpp"
#include "sandbox/faults.hpp"

namespace doorbuster::sandbox {

struct SandboxOptions {
    std::string listen = "127.0.0.1:9280";
    std::string api_key;
    std::string webhook_url = {};  // empty: no webhooks
    std::vector<WebhookSecret> webhook_secrets = {};
    FaultSet faults = {};
    uint64_t seed = 1;
    std::string data_file = {};   // empty: all is forgotten at the end
    std::string public_url = {};  // empty: where it listens
};

// Runs until SIGTERM or SIGINT; says on `out` when it is ready. The error is why it cannot run,
// or could not go on.
[[nodiscard]] Result<void, std::string> run_sandbox_pay(const SandboxOptions& options, std::ostream& out);

}  // namespace doorbuster::sandbox
