// Serving: opens the store, rebuilds the books, runs until told to stop.
#pragma once

#include <functional>
#include <string>

#include "config/config.hpp"
#include "config/reload.hpp"
#include "http/services.hpp"

namespace doorbuster {

struct Addresses {
    std::string public_address, admin_address;  // as bound
};

struct ServeMode {
    bool demo_sign_in = false;
    // Called once everything runs, before the ready line is printed.
    std::function<void(Services&, const Addresses&)> on_ready{};
    // For a reload.
    Reloader::Read read_again{};
};

// The exit code: 0 after a drain, 1 with the reason on standard error.
int serve(const Config& config, const ServeMode& mode);

}  // namespace doorbuster
