// Reload: what a new configuration changes in a server that runs with an old one.
//
// Options marked live take effect; the others keep the value that they started with and are
// named, so that nobody believes in a change that has not happened. A faulty configuration
// changes nothing.
//
// Thread safety: none; a Reloader belongs to one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace doorbuster {

// Names of options, in the order of the declarations.
struct ConfigChanges {
    std::vector<std::string> live;           // took effect
    std::vector<std::string> needs_restart;  // differ from what runs, and wait for a restart
};

ConfigChanges changes_between(const Config& running, const Config& fresh);

// Every sentence that is wrong with the new configuration.
using ReloadFaults = std::vector<std::string>;
using ReloadResult = Result<ConfigChanges, ReloadFaults>;

class Reloader {
public:
    // Reads the sources again and checks them as a start does.
    using Read = std::function<Result<Config, ReloadFaults>()>;
    // Hands the values of the live options to whoever uses them.
    using Apply = std::function<void(const Config&)>;

    Reloader(const Config& running, Read read, Apply apply)
        : running_(running), read_(std::move(read)), apply_(std::move(apply)) {}

    // Applies what is live, if anything of it changed. Told to the log as well.
    ReloadResult reload();

    // As it runs: with the live options as they are now, the others as they were at the start.
    const Config& running() const { return running_; }

private:
    Config running_;
    const Read read_;
    const Apply apply_;
};

}  // namespace doorbuster
