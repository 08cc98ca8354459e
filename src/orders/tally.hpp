// OrderTally: how many orders there are in each state, and how often money moved.
//
// Counted along with every commit: to count the rows takes longer the more there are.
//
// Thread safety: one writer (the orders thread), any number of readers.
#pragma once

#include <array>
#include <atomic>

#include "store/orders.hpp"

namespace doorbuster {

struct MoneyTotals {  // since the start of the process
    uint64_t paid = 0, refunded = 0, declined = 0, voided = 0, reinstated = 0, expired = 0;
};

class OrderTally {
public:
    // Writer.
    void load(const OrderCounts& counts) {
        for (size_t i = 0; i < counts.size(); ++i) orders_[i].store(counts[i], std::memory_order_relaxed);
    }
    void made(uint64_t orders = 1) { add(orders_[index(OrderState::pending_payment)], orders); }
    void moved(OrderState from, OrderState to) {
        if (from == to) return;
        orders_[index(from)].fetch_sub(1, std::memory_order_relaxed);
        add(orders_[index(to)]);
        if (to == OrderState::paid) add(paid_);
        if (to == OrderState::paid && from == OrderState::reinstating) add(reinstated_);
        if (to == OrderState::expired) add(expired_);
    }
    void payment_became(PaymentState state) {
        if (state == PaymentState::declined) add(declined_);
        if (state == PaymentState::voided) add(voided_);
        if (state == PaymentState::refunded) add(refunded_);
    }

    // Readers.
    OrderCounts orders() const {
        OrderCounts counts{};
        for (size_t i = 0; i < counts.size(); ++i) counts[i] = orders_[i].load(std::memory_order_relaxed);
        return counts;
    }
    MoneyTotals money() const {
        return {paid_.load(std::memory_order_relaxed),       refunded_.load(std::memory_order_relaxed),
                declined_.load(std::memory_order_relaxed),   voided_.load(std::memory_order_relaxed),
                reinstated_.load(std::memory_order_relaxed), expired_.load(std::memory_order_relaxed)};
    }

private:
    static size_t index(OrderState state) { return static_cast<size_t>(state); }
    static void add(std::atomic<uint64_t>& count, uint64_t by = 1) {
        count.fetch_add(by, std::memory_order_relaxed);
    }

    std::array<std::atomic<uint64_t>, std::tuple_size_v<OrderCounts>> orders_{};
    std::atomic<uint64_t> paid_{0}, refunded_{0}, declined_{0}, voided_{0}, reinstated_{0}, expired_{0};
};

}  // namespace doorbuster
