// Run: one simulated sale, from a seed, judged while it goes and when it is over.
//
// Buyers ask, repeat, give up, pay, pay late or twice, cancel; the network loses, repeats,
// delays and reorders; the disk fails; the clock jumps; the payment provider is away, lies and
// forgets to tell; the process crashes and starts again. In the end the faults stop, everybody
// gets an answer, every order settles, and the records are recounted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/faults.hpp"

namespace doorbuster::sim {

struct Result {
    uint64_t seed = 0;
    std::vector<std::string> broken;  // the promises, with what was seen; empty if all held
    Coverage coverage;
    uint64_t fingerprint = 0;  // of everything that happened; equal for equal seeds
};

using Trace = std::function<void(const std::string& line)>;

Result run(uint64_t seed, const Trace& trace = {});

}  // namespace doorbuster::sim
