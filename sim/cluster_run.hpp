// One simulated sale on the cluster, from a seed, judged while it goes and when it is over.
//
// Gates, sweeper, relay, workers and coordinators are the product's own, on virtual time; Redis runs the
// product's own functions. Redis loses what it had and comes back, Kafka's reports come late or never,
// PostgreSQL's commits are unknown, and every process crashes and sleeps. In the end the faults stop, all
// comes to rest, and what is in the stores is compared with what the buyers heard.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster_faults.hpp"
#include "sim/run.hpp"

namespace doorbuster::sim::cluster {

struct ClusterResult {
    uint64_t seed = 0;
    std::vector<std::string> broken;  // the promises, with what was seen; empty if all held
    ClusterCoverage coverage;
    uint64_t fingerprint = 0;  // of everything that happened; equal for equal seeds
};

ClusterResult run_cluster(uint64_t seed, const Trace& trace = {});

}  // namespace doorbuster::sim::cluster
