// `doorbuster dev`: a server with two demo sales, a demo sign-in, and a banner that
// shows how to buy.
#pragma once

#include "cli/cli.hpp"
#include "config/config.hpp"

namespace doorbuster {

int dev(const Config& config, const DevOptions& options);

}  // namespace doorbuster
