// Notifier: tells the shop every event at least once.
//
// Events become deliveries (store/outbox.hpp); those that are due are handed to `send`, at most
// `in_flight_max` at a time, and what came of each is written down together. A delivery that
// failed is tried again by a schedule that reaches over three days, then given up: `failed`, for
// the operator to send again. Events may arrive in another order than they happened in: each
// carries its id and its time.
//
// A crash, or a stop, loses only what was not yet written down: that is sent once more.
//
// Steppable: no thread, no clock, no network of its own.
// Thread safety: none, the orders thread's; figures() from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "store/outbox.hpp"

namespace doorbuster {

class Notifier {
public:
    // How long after each failed attempt the next one follows, give or take a fifth.
    static constexpr std::array<std::chrono::seconds, 9> retry_after = {
        std::chrono::seconds(5), std::chrono::minutes(5), std::chrono::minutes(30),
        std::chrono::hours(2),   std::chrono::hours(5),   std::chrono::hours(10),
        std::chrono::hours(14),  std::chrono::hours(20),  std::chrono::hours(24)};
    static constexpr size_t tries_max = retry_after.size() + 1;

    struct Options {
        size_t in_flight_max = 8;
        size_t batch_max =
            256;  // of events to deliver or answers in one transaction, of deliveries read ahead
        milliseconds look_every{50};
    };

    struct Message {
        uint64_t event = 0;
        std::string id;    // webhook-id
        std::string body;  // the same bytes in every attempt
    };
    struct Answer {
        uint64_t event = 0;
        Instant at{};         // when the attempt began
        uint32_t status = 0;  // 0: there was no answer
        std::string error;    // why
        milliseconds took{};
    };
    struct Figures {
        uint64_t delivered = 0, retried = 0, failed = 0;  // since the start
        uint64_t pending = 0;
        std::optional<Instant> oldest;  // when the oldest pending event happened
    };

    // `send` runs it off this thread; answered() follows once, or never if the process ends.
    using Send = std::function<void(Message)>;

    Notifier(Outbox& outbox, OrdersReader& reader, uint64_t seed, const Options& options, Send send);

    // Whether there is anybody to tell. While there is not, new events are passed over, and
    // deliveries from before wait.
    void set_delivering(bool is_delivering);
    bool is_delivering() const { return is_delivering_; }

    // One turn; to be called at least every `look_every`. True: there is more to do at once.
    [[nodiscard]] StoreResult<bool> step(Instant now, Uptime uptime);

    // Instead of a turn while another process delivers: what was read ahead is its to send.
    [[nodiscard]] StoreResult<void> rest(Instant now);

    void answered(Answer answer);

    // The operator's word. not_found: no such event.
    [[nodiscard]] StoreResult<Delivery> resend(uint64_t event, Instant now);

    // Writes down what was answered; for a stop that is not a crash.
    [[nodiscard]] StoreResult<void> flush(Instant now);

    Figures figures() const;

private:
    void forget_due();
    bool wants_to_look(Uptime uptime) const;
    StoreResult<void> read_ahead(Instant now);
    StoreResult<void> fill();
    StoreResult<void> count(Uptime uptime);
    DeliveryNote noted(const Answer& answer, uint32_t tries);

    Outbox& outbox_;
    OrdersReader& reader_;
    const Options options_;
    const Send send_;
    std::mt19937_64 random_;
    bool is_delivering_ = false;

    struct InFlight {
        uint64_t event;
        uint32_t tries;  // before this one
    };
    std::deque<Delivery> ready_;         // due, not yet sent; at most batch_max
    std::vector<InFlight> in_flight_;    // at most in_flight_max
    std::vector<DeliveryNote> answers_;  // answered, not yet written
    bool has_more_due_ = false;          // beyond `ready_`, as of the last look
    Uptime look_at_{}, count_at_{};

    // Written by the orders thread, read by any.
    std::atomic<uint64_t> delivered_{0}, retried_{0}, failed_{0}, pending_{0};
    std::atomic<int64_t> oldest_ms_{0};  // 0: none
};

}  // namespace doorbuster
