// PurchaseDesk: how a gate puts a purchase to the books, wherever they are, and how the answer comes back.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "sale/book.hpp"
#include "sale/catalogue.hpp"
#include "store/pacing.hpp"

namespace doorbuster {

struct PurchaseCommand {
    ItemSlot slot{};
    PurchaseId purchase;
    BuyerId buyer;
    uint32_t units = 0;
    uint16_t sink = 0;         // which ReplySink hears the answer
    void* reply_to = nullptr;  // the sink's own; comes back untouched
};

enum class Verdict : uint8_t {
    decided,     // the book's answer stands, and what it rests on is durable
    unknown,     // it may have been accepted: ask again with the same key
    rebuilding,  // the book went away before it was asked: nothing was taken
    overloaded,  // it found too many before it: nothing was taken
};

struct PurchaseReply {
    void* reply_to = nullptr;
    PurchaseId purchase{};  // the one that was asked for
    Verdict verdict = Verdict::decided;
    Book::ReserveAnswer answer{};
};

// Every submitted command gets exactly one reply.
class ReplySink {
public:
    virtual ~ReplySink() = default;

    // Called on the books' thread with all that is ready for this sink; must not
    // block. The span is valid during the call only.
    virtual void deliver(std::span<const PurchaseReply>) = 0;
};

enum class Submitted : uint8_t {
    queued,
    overloaded,  // the queue is full, or the predicted wait is above the limit
    rebuilding,  // the books are not there yet
};

// Thread safety: any thread.
class PurchaseDesk {
public:
    virtual ~PurchaseDesk() = default;

    [[nodiscard]] virtual Submitted submit(PurchaseCommand&& command) = 0;

    // Units of the item that are asked for by those who wait.
    virtual uint64_t units_waited_for(ItemSlot slot) = 0;

    struct Figures {
        uint64_t batches = 0, commands = 0, acceptances = 0;
        size_t queued = 0;
        std::chrono::nanoseconds predicted_wait{0};
        std::chrono::nanoseconds busy_wait{0};  // what of it comes from work, not from the pace
    };
    virtual Figures figures() const = 0;

    virtual void set_pace(const Pacing& pacing) = 0;
};

}  // namespace doorbuster
