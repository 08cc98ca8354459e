// Faults, outcomes and steps: what can happen in a run, and how often it did.
//
// A minute of seeds in which one of them never occurs is a failed run: what does not happen
// is not tested.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace doorbuster::sim {

enum class Fault : uint8_t {
    crash_between_steps,
    crash_before_write,  // the process dies, nothing was written
    crash_after_write,   // the write is durable, nobody hears of it
    failed_write,
    lost_acknowledgement,  // the write is durable, the store says that it failed
    failed_ledger_read,
    failed_orders_read,
    failed_outbox_read,
    read_broke_off,  // some rows of a table had been seen, not all
    slow_disk,
    clock_jump_forward,
    clock_jump_back,
    queue_full,
    message_lost,
    message_repeated,
    message_delayed,
    message_reordered,
    retry_same_key,
    retry_new_key,
    record_refused,    // a ledger record that the orders cannot place
    release_repeated,  // the book hears of it twice, as from a relay that is not sure
    // The payment provider
    provider_unreachable,
    provider_ask_lost,
    provider_ask_late,     // it arrives when the one who asked has given up
    provider_answer_lost,  // done, and nobody hears of it
    webhook_lost,
    webhook_repeated,
    webhook_delayed,
    webhook_reordered,
    webhook_forged,
    underpaid,
    wrong_currency,
    captured_after_void,
    refunded_by_provider,
    // The shop, which hears of events
    receiver_unreachable,
    receiver_answer_lost,
};
constexpr size_t faults = 36;

constexpr std::array<std::string_view, faults> fault_names = {"crash_between_steps",
                                                              "crash_before_write",
                                                              "crash_after_write",
                                                              "failed_write",
                                                              "lost_acknowledgement",
                                                              "failed_ledger_read",
                                                              "failed_orders_read",
                                                              "failed_outbox_read",
                                                              "read_broke_off",
                                                              "slow_disk",
                                                              "clock_jump_forward",
                                                              "clock_jump_back",
                                                              "queue_full",
                                                              "message_lost",
                                                              "message_repeated",
                                                              "message_delayed",
                                                              "message_reordered",
                                                              "retry_same_key",
                                                              "retry_new_key",
                                                              "record_refused",
                                                              "release_repeated",
                                                              "provider_unreachable",
                                                              "provider_ask_lost",
                                                              "provider_ask_late",
                                                              "provider_answer_lost",
                                                              "webhook_lost",
                                                              "webhook_repeated",
                                                              "webhook_delayed",
                                                              "webhook_reordered",
                                                              "webhook_forged",
                                                              "underpaid",
                                                              "wrong_currency",
                                                              "captured_after_void",
                                                              "refunded_by_provider",
                                                              "receiver_unreachable",
                                                              "receiver_answer_lost"};

// What a buyer can hear about a purchase.
enum class Heard : uint8_t {
    accepted,
    repeated,
    cancelled,  // repeated, and it has ended
    sold_out,
    sold_out_for_now,
    limit_reached,
    not_open,
    ended,
    paused,
    key_mismatch,
    overloaded,
    rebuilding,
    unknown,
    nothing,  // until the buyer's patience ended
};
constexpr size_t heards = 14;

constexpr std::array<std::string_view, heards> heard_names = {
    "accepted", "repeated", "cancelled",    "sold_out",   "sold_out_for_now", "limit_reached", "not_open",
    "ended",    "paused",   "key_mismatch", "overloaded", "rebuilding",       "unknown",       "nothing"};

// What people do beside buying, and what came of it where no step of an order shows it.
enum class Deed : uint8_t {
    sale_reserve,
    sale_at_order,
    sale_at_payment,
    cancel,
    restock,
    page_opened,     // an attempt to pay has its page
    page_refused,    // no page: the provider cannot be reached, or the order is over
    second_attempt,  // after a decline
    paid_on_page,
    paid_after_decline,  // on the page that had declined
    declined_on_page,
    surplus_refunded,  // a capture that did not pay for its order
    refund_with_units,
    refund_without_units,
    letter_retried,
    letter_dropped,
    stopped,   // the server, by its operator: it makes the orders that are left, and ends
    gathered,  // purchases waited for more of them: the worker was in a rush
    units_counted_by_late_buyers,
    event_delivered,
    event_delivered_again,
};
constexpr size_t deeds = 21;

constexpr std::array<std::string_view, deeds> deed_names = {"sale_reserve",
                                                            "sale_at_order",
                                                            "sale_at_payment",
                                                            "cancel",
                                                            "restock",
                                                            "page_opened",
                                                            "page_refused",
                                                            "second_attempt",
                                                            "paid_on_page",
                                                            "paid_after_decline",
                                                            "declined_on_page",
                                                            "surplus_refunded",
                                                            "refund_with_units",
                                                            "refund_without_units",
                                                            "letter_retried",
                                                            "letter_dropped",
                                                            "stopped",
                                                            "gathered",
                                                            "units_counted_by_late_buyers",
                                                            "event_delivered",
                                                            "event_delivered_again"};

// The steps of an order that can be seen from outside, as DESIGN's table has them; those that
// one transaction takes together are one.
constexpr size_t steps = 23;
constexpr std::array<std::string_view, steps> step_names = {"pending_payment>paying",
                                                            "pending_payment>expired",
                                                            "pending_payment>cancelled",
                                                            "pending_payment>paid",
                                                            "paying>pending_payment",
                                                            "paying>paid",
                                                            "paying>voiding",
                                                            "paying>refunding",
                                                            "voiding>paid",
                                                            "voiding>expired",
                                                            "voiding>cancelled",
                                                            "voiding>refunding",
                                                            "expired>reinstating",
                                                            "expired>refunding",
                                                            "cancelled>reinstating",
                                                            "cancelled>refunding",
                                                            "reinstating>paid",
                                                            "reinstating>refunding",
                                                            "paid>refunding",
                                                            "paid>refunded",
                                                            "refunding>refunded",
                                                            "pending_payment>refunding",
                                                            "new>pending_payment"};

struct Coverage {
    std::array<uint64_t, faults> fault_count{};
    std::array<uint64_t, heards> heard_count{};
    std::array<uint64_t, deeds> deed_count{};
    std::array<uint64_t, steps> step_count{};
    uint64_t commands = 0, crashes = 0, seeds = 0;

    void did(Deed deed) { ++deed_count[static_cast<size_t>(deed)]; }

    void add(const Coverage& other) {
        for (size_t i = 0; i < faults; ++i) fault_count[i] += other.fault_count[i];
        for (size_t i = 0; i < heards; ++i) heard_count[i] += other.heard_count[i];
        for (size_t i = 0; i < deeds; ++i) deed_count[i] += other.deed_count[i];
        for (size_t i = 0; i < steps; ++i) step_count[i] += other.step_count[i];
        commands += other.commands;
        crashes += other.crashes;
        seeds += other.seeds;
    }
};

}  // namespace doorbuster::sim
