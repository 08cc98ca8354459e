// SimulatedKafka: partitions that keep their order, and producers whose reports come late or never.
//
// What stands in a partition is the product's own bytes. A record of a producer lands behind those that it
// produced before; one that is `unknown` may land, now or much later, or never.
//
// Thread safety: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/cluster_world.hpp"
#include "store_cluster/kafka_records.hpp"

namespace doorbuster::sim::cluster {

class SimulatedKafka {
public:
    SimulatedKafka(ClusterWorld& world, size_t partitions) : world_(world), partitions_(partitions) {}

    // A producer of one life of the node.
    std::unique_ptr<RecordSink> producer(Node& node);
    std::unique_ptr<LedgerReader> reader(uint64_t partition);

    int32_t count() const { return static_cast<int32_t>(partitions_.size()); }
    uint64_t size(uint64_t partition) const { return partitions_[partition].size(); }
    // Records that are still on their way.
    size_t under_way() const { return under_way_; }

private:
    class Producer;
    class Reader;

    ClusterWorld& world_;
    std::vector<std::vector<std::string>> partitions_;
    size_t under_way_ = 0;
};

}  // namespace doorbuster::sim::cluster
