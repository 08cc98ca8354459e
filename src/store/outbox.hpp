// Outbox: what the shop has to be told, and how far the telling has come.
//
// An event is written in the transaction of what it tells, so none is lost or made up in a crash.
// From here on it is a delivery: pending until the shop has taken it or until it was tried often
// enough. Whatever was under way in a crash is still pending, and is tried again.
//
// Lives beside the orders and is written by their thread; `now` is handed in.
// Bounds: one delivery per event; attempts_kept_max lines of its log, the oldest go first.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/orders.hpp"

namespace doorbuster {

enum class DeliveryState : uint8_t { pending, delivered, failed };  // persisted by name

inline constexpr std::array<std::string_view, 3> delivery_state_names = {"pending", "delivered", "failed"};

constexpr std::string_view name_of(DeliveryState state) {
    return delivery_state_names[static_cast<size_t>(state)];
}
constexpr std::optional<DeliveryState> delivery_state_of(std::string_view name) {
    for (size_t i = 0; i < delivery_state_names.size(); ++i) {
        if (delivery_state_names[i] == name) return static_cast<DeliveryState>(i);
    }
    return std::nullopt;
}

struct Delivery {
    EventRecord event;
    DeliveryState state = DeliveryState::pending;
    uint32_t attempts = 0;           // in all
    uint32_t tries = 0;              // since it was made or asked for again: its place in the schedule
    std::optional<Instant> next_at;  // of a pending one
    Instant updated_at{};
};

struct DeliveryAttempt {
    uint32_t number = 0;  // from 1; given by the outbox
    Instant at{};
    uint32_t status = 0;  // 0: no answer
    std::string error;    // why there was none
    milliseconds took{};
};

// One attempt, and what follows from it.
struct DeliveryNote {
    uint64_t event = 0;
    DeliveryAttempt attempt;
    DeliveryState state = DeliveryState::pending;
    std::optional<Instant> next_at;  // of a pending one
};

struct DeliveryBacklog {
    uint64_t pending = 0;
    std::optional<Instant> oldest;  // when the oldest pending event happened
};

class Outbox {
public:
    static constexpr uint32_t attempts_kept_max = 100;

    virtual ~Outbox() = default;

    // Takes the events that nobody has taken yet, oldest first: a delivery for each, due at once,
    // and the position behind them, in one transaction. Where nothing is delivered, only the
    // position moves. How many were taken; less than `count_max`: there are no more.
    [[nodiscard]] virtual StoreResult<size_t> take_events(size_t count_max, bool deliver, Instant now) = 0;

    // The number of the last event that was taken; 0: none.
    [[nodiscard]] virtual StoreResult<uint64_t> position() = 0;

    // Pending ones whose time has come, the longest due first.
    [[nodiscard]] virtual StoreResult<std::vector<Delivery>> due(Instant now, size_t count_max) = 0;

    // Logs the attempts and changes their deliveries, in one transaction.
    [[nodiscard]] virtual StoreResult<void> note(std::span<const DeliveryNote>, Instant now) = 0;

    // Pending once more and due at once, the schedule from its beginning; its log goes on. An event
    // from before there was anybody to tell is delivered now. not_found: no such event.
    [[nodiscard]] virtual StoreResult<Delivery> resend(uint64_t event, Instant now) = 0;

    // Newest first; those of one state, and those before an event, where it is given.
    [[nodiscard]] virtual StoreResult<std::vector<Delivery>> deliveries(std::optional<DeliveryState>,
                                                                        std::optional<uint64_t> before,
                                                                        size_t count_max) = 0;
    [[nodiscard]] virtual StoreResult<std::optional<Delivery>> find_delivery(uint64_t event) = 0;
    // Oldest first.
    [[nodiscard]] virtual StoreResult<std::vector<DeliveryAttempt>> attempts_of(uint64_t event) = 0;
    [[nodiscard]] virtual StoreResult<DeliveryBacklog> backlog() = 0;
};

}  // namespace doorbuster
