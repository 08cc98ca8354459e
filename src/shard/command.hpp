// What a gate thread sends to the owner thread, and what comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "sale/book.hpp"
#include "sale/catalogue.hpp"
#include "store/book_control.hpp"

namespace doorbuster {

struct PurchaseCommand {
    ItemSlot slot{};
    PurchaseId purchase;
    BuyerId buyer;
    uint32_t units = 0;
    uint16_t sink = 0;         // which ReplySink hears the answer
    void* reply_to = nullptr;  // the sink's own; comes back untouched
};

// What the orders side sends; beside the purchases, so that those stay small.
struct ReinstateCommand {
    Reinstatement asked;
    std::function<void(const Reinstated&)> answered;
};

enum class Verdict : uint8_t {
    decided,  // the book's answer stands, and what it rests on is durable
    unknown,  // the ledger failed: it may have been accepted, ask again with the same key
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

    // Called on the owner thread with all that one batch has for this sink; must not
    // block. The span is valid during the call only.
    virtual void deliver(std::span<const PurchaseReply>) = 0;
};

enum class Submitted : uint8_t {
    queued,
    overloaded,  // the queue is full, or the predicted wait is above the limit
    rebuilding,  // the books are not there yet
};

}  // namespace doorbuster
