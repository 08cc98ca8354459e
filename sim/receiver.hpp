// Receiver: the shop's end of the webhooks. Remembers what it heard, which outlives the server.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "orders/notifier.hpp"

namespace doorbuster::sim {

class World;

class Receiver {
public:
    explicit Receiver(World& world) : world_(world) {}

    // `answered` hears the HTTP status; 0: no answer.
    void send(const Notifier::Message& message, std::function<void(uint32_t)> answered);

    const std::map<uint64_t, std::string>& heard() const { return heard_; }

private:
    void hear(const Notifier::Message& message);

    World& world_;
    std::map<uint64_t, std::string> heard_;  // the body of each event, by its number
};

}  // namespace doorbuster::sim
