#include "sim/memory_outbox.hpp"

#include <algorithm>

namespace doorbuster::sim {

void MemoryOutbox::put(Change& change, uint64_t event, Instant now) {
    Delivery& delivery = change.row(state_.deliveries, event);
    delivery.event = state_.events[event - 1];
    delivery.state = DeliveryState::pending;
    delivery.tries = 0;
    delivery.next_at = delivery.updated_at = now;
}

StoreResult<size_t> MemoryOutbox::take_events(size_t count_max, bool deliver, Instant now) {
    const uint64_t from = state_.events_taken;
    const size_t count = std::min<size_t>(count_max, state_.events.size() - from);
    if (count == 0) return read(count);
    Change change;
    for (uint64_t event = from + 1; deliver && event <= from + count; ++event) {
        if (!state_.deliveries.contains(event)) put(change, event, now);
    }
    change.set(state_.events_taken, from + count);
    const auto done = disk_.write("taking events", [&] { change.keep(); });
    if (!done) return done.error();
    return count;
}

StoreResult<std::vector<Delivery>> MemoryOutbox::due(Instant now, size_t count_max) {
    std::vector<Delivery> due;
    for (const auto& [event, delivery] : state_.deliveries) {
        if (delivery.next_at && *delivery.next_at <= now) due.push_back(delivery);
    }
    std::stable_sort(due.begin(), due.end(),
                     [](const Delivery& a, const Delivery& b) { return *a.next_at < *b.next_at; });
    if (due.size() > count_max) due.resize(count_max);
    return read(due);
}

StoreResult<void> MemoryOutbox::note(std::span<const DeliveryNote> notes, Instant now) {
    Change change;
    for (const DeliveryNote& note : notes) {
        if ((note.state == DeliveryState::pending) != note.next_at.has_value())
            return StoreError{StoreErrc::not_allowed, "simulated outbox", "a contradiction"};
        Delivery& delivery = change.row(state_.deliveries, note.event);
        delivery.state = note.state;
        delivery.next_at = note.next_at;
        delivery.attempts += 1;
        delivery.tries += 1;
        delivery.updated_at = now;
        auto& attempts = change.row(state_.attempts, note.event);
        attempts.push_back(note.attempt);
        attempts.back().number = delivery.attempts;
        if (attempts.size() > attempts_kept_max) attempts.erase(attempts.begin());
    }
    return disk_.write("writing deliveries down", [&] { change.keep(); });
}

StoreResult<Delivery> MemoryOutbox::resend(uint64_t event, Instant now) {
    if (event == 0 || event > state_.events.size())
        return StoreError{StoreErrc::not_found, "simulated outbox", "no such event"};
    Change change;
    put(change, event, now);
    const Delivery delivery = state_.deliveries.at(event);
    const auto done = disk_.write("sending an event again", [&] { change.keep(); });
    if (!done) return done.error();
    return delivery;
}

StoreResult<std::vector<Delivery>> MemoryOutbox::deliveries(std::optional<DeliveryState> state,
                                                            std::optional<uint64_t> before,
                                                            size_t count_max) {
    std::vector<Delivery> some;
    for (auto at = state_.deliveries.rbegin(); at != state_.deliveries.rend() && some.size() < count_max;
         ++at) {
        if ((!state || at->second.state == *state) && (!before || at->first < *before))
            some.push_back(at->second);
    }
    return read(some);
}

StoreResult<std::optional<Delivery>> MemoryOutbox::find_delivery(uint64_t event) {
    const auto found = state_.deliveries.find(event);
    return read(found == state_.deliveries.end() ? std::optional<Delivery>() : std::optional(found->second));
}

StoreResult<std::vector<DeliveryAttempt>> MemoryOutbox::attempts_of(uint64_t event) {
    const auto found = state_.attempts.find(event);
    return read(found == state_.attempts.end() ? std::vector<DeliveryAttempt>() : found->second);
}

StoreResult<DeliveryBacklog> MemoryOutbox::backlog() {
    DeliveryBacklog backlog;
    for (const auto& [event, delivery] : state_.deliveries) {
        if (delivery.state != DeliveryState::pending) continue;
        backlog.pending += 1;
        if (!backlog.oldest) backlog.oldest = delivery.event.at;
    }
    return read(backlog);
}

}  // namespace doorbuster::sim
