// The cluster's protocol keeps its promises under seeds, and a seed is a seed.
#include <gtest/gtest.h>

#include "sim/cluster_run.hpp"

namespace doorbuster {
namespace {

class ClusterSimulation : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ClusterSimulation, KeepsEveryPromiseThroughLostStoresAndSleepingProcesses) {
    const auto result = sim::cluster::run_cluster(GetParam());
    for (const std::string& what : result.broken) ADD_FAILURE() << what;
    EXPECT_GT(result.coverage.asks, 0u)
        << "replay: doorbuster-sim --cluster --seed=" << GetParam() << " --trace";
}

TEST_P(ClusterSimulation, ASeedReplaysExactly) {
    const auto first = sim::cluster::run_cluster(GetParam()), second = sim::cluster::run_cluster(GetParam());
    EXPECT_EQ(first.fingerprint, second.fingerprint);
    EXPECT_EQ(first.coverage.asks, second.coverage.asks);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClusterSimulation, ::testing::Range<uint64_t>(1, 6));

}  // namespace
}  // namespace doorbuster
