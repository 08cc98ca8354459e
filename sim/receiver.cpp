#include "sim/receiver.hpp"

#include "sim/world.hpp"

namespace doorbuster::sim {

void Receiver::send(const Notifier::Message& message, std::function<void(uint32_t)> answered) {
    if (world_.faulty() && world_.random.chance(40)) {
        world_.happened(Fault::receiver_unreachable);
        const uint32_t status = world_.random.chance(500) ? 503 : 0;
        return world_.after(100 * ms, [answered, status] { answered(status); });
    }
    world_.after(world_.random.between(100, 20'000), [this, message, answered] {
        hear(message);
        const bool is_lost = world_.faulty() && world_.random.chance(40);
        if (is_lost) world_.happened(Fault::receiver_answer_lost);
        world_.after(is_lost ? 100 * ms : 1 * ms, [answered, is_lost] { answered(is_lost ? 0 : 200); });
    });
}

void Receiver::hear(const Notifier::Message& message) {
    const auto& events = world_.orders.events;
    if (message.event == 0 || message.event > events.size())
        return world_.broke(fmt::format("the shop heard of event {}, which never happened", message.event));
    const auto [known, is_first] = heard_.emplace(message.event, message.body);
    world_.coverage.did(is_first ? Deed::event_delivered : Deed::event_delivered_again);
    if (known->second != message.body)
        world_.broke(fmt::format("the shop heard two stories about event {}", message.event));
}

}  // namespace doorbuster::sim
