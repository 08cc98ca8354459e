// Disk: decides what becomes of each write, and whether a read comes to its end.
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
            return StoreError{StoreErrc::unavailable, operation, "the disk failed", random_.chance(500)};
        }
        make_durable();
        if (random_.chance(8)) {
            happened(Fault::crash_after_write);
            throw Crash{};
        }
        if (random_.chance(5)) {
            happened(Fault::lost_acknowledgement);
            return StoreError{StoreErrc::unavailable, operation, "the acknowledgement was lost", true};
        }
        return {};
    }

    StoreResult<void> read(const char* operation) {
        if (!faulty_ || !random_.chance(1)) return {};
        happened(Fault::failed_read);
        return StoreError{StoreErrc::unavailable, operation, "the disk failed"};
    }

private:
    void happened(Fault fault) { hooks_.happened(fault); }

    Random& random_;
    const Hooks hooks_;
    bool faulty_ = false;
};

}  // namespace doorbuster::sim
