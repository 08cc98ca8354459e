// A real Kafka broker for tests: lone, on free loopback ports, with a folder of its own, ended by
// its process id.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>

#include "store_cluster/kafka_topics.hpp"

namespace doorbuster::testing {

class KafkaBroker {
public:
    // Why there can be none here: it is not cached and cannot be fetched. Empty: there can.
    static const std::string& is_missing();

    KafkaBroker();
    ~KafkaBroker();
    KafkaBroker(const KafkaBroker&) = delete;
    KafkaBroker& operator=(const KafkaBroker&) = delete;

    // On the same data as before. Returns when it answers and leads all of its partitions.
    void start();
    void stop(int signal = SIGTERM);
    void freeze();
    void thaw();
    void ensure_running();

    const std::string& brokers() const { return brokers_; }
    // A topic of its own for whoever asks, as a lone broker must have it; its name.
    std::string create_topic(int32_t partitions);
    KafkaTopicTerms terms(const std::string& topic, int32_t partitions) const;

private:
    bool answers_and_leads() const;

    std::string folder_, port_, controller_port_, brokers_;
    pid_t process_ = -1;
    int topics_ = 0;
};

// The one that all tests of a program share.
KafkaBroker& kafka();

}  // namespace doorbuster::testing
