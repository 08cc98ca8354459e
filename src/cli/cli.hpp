// The command line: words in, one command run, an exit code out.
//
// Exit codes: 0 done, 1 failed, 2 not understood, 4 compared and found different. Data goes to
// standard output, everything said to a person to standard error. The commands that run a
// server get it handed in, so that this folder knows no backend.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/reload.hpp"

namespace doorbuster {

struct DevOptions {
    std::string keys_file;  // where the generated keys are kept
    Reloader::Read read_again;
};

struct CliHooks {
    std::function<int(const Config&, Reloader::Read)> serve;
    std::function<int(const Config&, DevOptions)> dev;
    std::string version;
};

// What surrounds a run, so that a test can stand in for a terminal.
struct CliWorld {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    Environment environment;
};

int run_cli(int argc, char** argv, const CliHooks&);

// `words` without the program's name.
int run_cli(const std::vector<std::string>& words, CliWorld&, const CliHooks&);

}  // namespace doorbuster
