// Probe: what one gate thread has seen. One per handler; call sites say what
// happened, the names of the metrics are in page.cpp.
//
// Thread safety: the verbs on its gate thread only; reading from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "metrics/counter.hpp"

namespace doorbuster {

// Where a request was turned away, in the order in which it meets them. The first four are
// met by every request, the others by purchases and by what else needs a buyer.
enum class Stage : uint8_t {
    level,
    address_list,
    address_limit,
    global_limit,
    rebuilding,
    identity,
    origin,
    sale,
    body,
    buyer_list,
    buyer_limit,
    window,
    sold_out,
    check,
    token,
    buyers_per_address,
    risk,
    sale_limit,
    crowd,
    queue,
    book,
};
constexpr size_t stages = 21;

// What became of a purchase that reached the book.
enum class PurchaseOutcome : uint8_t {
    accepted,
    repeated,
    sold_out,
    limit_reached,
    not_open,
    ended,
    paused,
    key_mismatch,
    unknown,
    sold_out_for_now,
};
constexpr size_t purchase_outcomes = 10;

class Probe {
public:
    static constexpr int status_min = 100, status_max = 599;

    void answered(int status) {
        CHECK(status >= status_min && status <= status_max);
        answered_total_[static_cast<size_t>(status - status_min)].add();
    }
    void refused(Stage stage) { refused_total_[static_cast<size_t>(stage)].add(); }
    void decided(PurchaseOutcome outcome) { decided_total_[static_cast<size_t>(outcome)].add(); }

    uint64_t answered_total(int status) const {
        return answered_total_[static_cast<size_t>(status - status_min)].value();
    }
    uint64_t refused_total(Stage stage) const { return refused_total_[static_cast<size_t>(stage)].value(); }
    uint64_t decided_total(PurchaseOutcome outcome) const {
        return decided_total_[static_cast<size_t>(outcome)].value();
    }

private:
    alignas(64) std::array<Counter, stages> refused_total_;
    std::array<Counter, purchase_outcomes> decided_total_;
    std::array<Counter, status_max - status_min + 1> answered_total_;
};

}  // namespace doorbuster
