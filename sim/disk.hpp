// Disk: decides what becomes of each write, and how far a read comes.
//
// A crash is thrown through the product's own code, as a process that dies leaves
// whatever it was doing; only the stores' durable state outlives it.
#pragma once

#include <functional>

#include "sim/faults.hpp"
#include "sim/random.hpp"
#include "store/errors.hpp"

namespace doorbuster::sim {

struct Crash {};  // thrown where the process dies

class Disk {
public:
    // Called with each fault that happens, and with the time that a slow write takes.
    struct Hooks {
        std::function<void(Fault)> happened;
        std::function<void(int64_t)> takes_ms;
    };

    Disk(Random& random, Hooks hooks) : random_(random), hooks_(std::move(hooks)) {}

    void set_faulty(bool faulty) { faulty_ = faulty; }

    // Runs `make_durable` at the point where the write becomes durable, if it does.
    template <class MakeDurable>
    StoreResult<void> write(const char* operation, MakeDurable make_durable) {
        if (!faulty_) {
            make_durable();
            return {};
        }
        if (random_.chance(30)) {
            happened(Fault::slow_disk);
            hooks_.takes_ms(random_.between(1, 400));
        }
        if (random_.chance(8)) {
            happened(Fault::crash_before_write);
            throw Crash{};
        }
        if (random_.chance(5)) {
            happened(Fault::failed_write);
            return failed(operation, "the disk failed", random_.chance(500));
        }
        make_durable();
        if (random_.chance(8)) {
            happened(Fault::crash_after_write);
            throw Crash{};
        }
        if (random_.chance(5)) {
            happened(Fault::lost_acknowledgement);
            return failed(operation, "the acknowledgement was lost", true);
        }
        return {};
    }

    // `kind` is what happens if it fails.
    StoreResult<void> read(Fault kind, const char* operation) {
        if (!faulty_ || !random_.chance(1)) return {};
        happened(kind);
        return failed(operation, "the disk failed");
    }

    // Of a whole table: the rows before the one at which it fails have been visited.
    template <class Rows, class Visit>
    StoreResult<void> scan(Fault kind, const char* operation, const Rows& rows, Visit visit) {
        const bool fails = faulty_ && random_.chance(5);
        size_t left = fails ? random_.below(rows.size() + 1) : rows.size();
        if (fails) happened(kind);
        if (left > 0 && left < rows.size()) happened(Fault::read_broke_off);
        for (const auto& row : rows) {
            if (left-- == 0) break;
            visit(row);
        }
        if (fails) return failed(operation, "the disk failed");
        return {};
    }

    // Reads and writes that it answered with an error so far.
    uint64_t failures() const { return failures_; }

private:
    void happened(Fault fault) { hooks_.happened(fault); }
    StoreError failed(const char* operation, const char* how, bool outcome_unknown = false) {
        ++failures_;
        return {StoreErrc::unavailable, operation, how, outcome_unknown};
    }

    Random& random_;
    const Hooks hooks_;
    bool faulty_ = false;
    uint64_t failures_ = 0;
};

}  // namespace doorbuster::sim
