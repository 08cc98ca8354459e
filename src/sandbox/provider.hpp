// SandboxProvider: the payments of one merchant, with every right and every wrong turn that they
// can take at a provider.
//
// What it says and what it does are one step, and what it does can come later than it said: the
// faults are those of DESIGN's section on payment.
//   created -> captured | declined | voided      declined -> captured | voided
//   captured -> refunded                         voided -> captured, only by a fault
// A key that was voided before anybody asked for money is a tombstone: it stays voided whatever
// comes later, so that a request which arrives late can take no money any more.
//
// No I/O; the time is handed in and the dice follow from the seed, so a run can be repeated.
//
// Thread safety: none.
// Invariants:
//   1. every change of a payment adds one to its version, one to the changes and one event
//   2. a void or a repeat never moves money; a refund moves it once
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "sandbox/event_outbox.hpp"
#include "sandbox/faults.hpp"
#include "sandbox/payment.hpp"

namespace doorbuster::sandbox {

class SandboxProvider {
public:
    struct Terms {
        std::string public_url;  // where the pay pages are
        uint64_t seed = 1;
        FaultSet faults = {};
        size_t payments_max = 1'000'000;  // beyond which every new key hears `full`
    };
    explicit SandboxProvider(const Terms& terms);
    SandboxProvider(const SandboxProvider&) = delete;  // the outbox throws these dice
    SandboxProvider& operator=(const SandboxProvider&) = delete;

    // The payment as it is after the call; none where the verdict says so.
    enum class Verdict : uint8_t {
        done,
        made,      // and the payment is new
        unknown,   // no such key; no payment
        conflict,  // the payment's state or amount does not allow it; nothing has changed
        full,      // no payment
    };
    struct Outcome {
        Verdict verdict;
        const Payment* payment = nullptr;  // until the next call
    };

    // Each of them may be repeated. REQUIRES: is_key(key).
    [[nodiscard]] Outcome create(std::string_view key, const Intent& intent, const Moment& at);
    [[nodiscard]] Outcome find(std::string_view key) const;
    [[nodiscard]] Outcome void_payment(std::string_view key, const Moment& at);
    [[nodiscard]] Outcome refund(std::string_view key, const Moment& at);
    [[nodiscard]] Outcome capture(std::string_view key, const Moment& at);
    [[nodiscard]] Outcome decline(std::string_view key, const Moment& at);

    // In the order of their creation.
    size_t payments() const { return payments_.size(); }
    const Payment& payment(size_t index) const { return payments_[index]; }

    const FaultSet& faults() const { return faults_; }
    void set_faults(const FaultSet& faults) { faults_ = faults; }

    // How the interface treats the merchant's next call.
    struct CallFault {
        bool is_unreachable = false;  // 503, nothing done
        bool is_answer_lost = false;  // done, and the connection closed
        Uptime before{}, after{};     // waits around the effect
    };
    [[nodiscard]] CallFault draw_call_fault();

    // What has become due by itself; call it at next_due().
    void advance(const Moment& at);
    std::optional<Uptime> next_due() const;

    // What has happened since the last take, in order.
    std::vector<Payment> take_changes() { return std::exchange(changes_, {}); }
    std::vector<Webhook> take_webhooks() { return outbox_.take(); }

    // As an earlier run left it; nothing is announced. The last one of a key counts.
    void restore(const Payment& payment);

    std::string_view public_url() const { return public_url_; }

private:
    Payment* known(std::string_view key) const;
    Payment& add(Payment payment);
    void capture(Payment& payment, const Moment& at);
    Outcome moved(Payment& payment, PaymentState to, const Moment& at);

    const std::string public_url_;
    const size_t payments_max_;
    FaultSet faults_;
    Dice dice_;
    EventOutbox outbox_;

    std::deque<Payment> payments_;  // addresses stay
    boost::unordered_flat_map<std::string_view, Payment*, SeededHash> by_key_;
    std::multimap<Uptime, Payment*> late_captures_;  // at most one per payment
    std::vector<Payment> changes_;
};

}  // namespace doorbuster::sandbox
