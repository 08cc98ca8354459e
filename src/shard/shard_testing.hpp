// A shard with one item of two units, and a ledger that fails when it is told to.
#pragma once

#include <gtest/gtest.h>

#include "sale/testing.hpp"
#include "shard/shard.hpp"

namespace doorbuster::testing {

struct Heard final : ReplySink {
    std::vector<PurchaseReply> replies;
    void deliver(std::span<const PurchaseReply> some) override {
        replies.insert(replies.end(), some.begin(), some.end());
    }
};

// The real one cannot be made to fail on demand; this one fails when it is told to, and
// shows what had been answered when the append came.
struct FailingLedger final : Ledger {
    explicit FailingLedger(const Heard& heard_by) : heard(heard_by) {}
    const Heard& heard;
    bool fails = false;
    size_t answered_before_append = 0;
    std::vector<LedgerEntry> entries;

    StoreResult<void> append(std::span<const LedgerEntry> some) override {
        answered_before_append = heard.replies.size();
        if (fails) return StoreError{StoreErrc::full, "appending", "no room", true};
        entries.insert(entries.end(), some.begin(), some.end());
        return {};
    }
    StoreResult<void> idle() override { return {}; }
};

class ShardTest : public ::testing::Test {
protected:
    ShardTest() {
        shard.set_sinks({&heard});
        shard.apply(OpenBook{ItemSlot{0},
                             SaleId("phone-drop"),
                             ItemId("phone"),
                             {1, t0, t0 + 1h},
                             {2, 2, 0, 0},
                             Phase::selling,
                             board});
    }
    static PurchaseCommand command(uint32_t id, const BuyerId& buyer) {
        return {ItemSlot{0}, purchase(id), buyer, 1, 0, nullptr};
    }
    std::vector<ReserveOutcome> outcomes() const {
        std::vector<ReserveOutcome> all;
        for (const PurchaseReply& reply : heard.replies) all.push_back(reply.answer.outcome);
        return all;
    }

    Heard heard;
    FailingLedger ledger{heard};
    Shard shard{ledger};
    std::shared_ptr<ItemBoard> board = std::make_shared<ItemBoard>();
};

}  // namespace doorbuster::testing
