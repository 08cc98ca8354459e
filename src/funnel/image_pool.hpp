// ImagePool: pictures that are there before anybody asks for one.
//
// Drawing takes milliseconds, and in the rush thousands ask at once. So one thread of low priority
// draws beforehand and again as pictures are taken; whoever takes one neither draws nor waits.
//
// A ring of slots. `taken_` counts the pictures that were handed out, `drawn_` those that were
// drawn; slot n % slots holds the n-th.
// (1) taken_ <= drawn_ <= taken_ + slots: the drawer never overtakes those who take by a round.
// (2) A slot's `users` is the number of leases on it, or -1 while the drawer writes; it writes
//     only what was taken and nobody reads.
// When the ring is dry a picture that was handed out before is handed out again, and counted:
// each check has a nonce of its own, so it is one picture in two checks, not one check twice.
//
// Bound: `slots` pictures.
//
// Thread safety: take from any thread, lock-free but for waking the drawer where it sleeps; begin from any;
// the destructor when all are gone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/wakeup.hpp"

namespace doorbuster {

struct PooledImage {
    std::string text;      // what it shows
    std::string data_uri;  // data:image/png;base64,…
};

class ImagePool {
    struct Slot;

public:
    // Draws one picture from a seed; called by the pool's thread alone.
    using Draw = std::function<PooledImage(uint64_t seed)>;
    // A fresh seed for each picture. Nobody outside may be able to tell the next one.
    using Random = std::function<uint64_t()>;

    // REQUIRES: slots >= 2.
    ImagePool(size_t slots, Draw draw, Random random);
    ~ImagePool();
    ImagePool(const ImagePool&) = delete;

    // Starts to draw, once, however often it is called; where no sale asks for pictures none are
    // drawn.
    void begin();

    // A picture, for as long as the lease lives: keep it no longer than it takes to copy.
    class Lease {
    public:
        Lease(Lease&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
        Lease& operator=(Lease&&) = delete;
        ~Lease();

        std::string_view text() const;
        std::string_view data_uri() const;

    private:
        friend class ImagePool;
        explicit Lease(Slot& slot) : slot_(&slot) {}
        Slot* slot_;
    };
    // Nothing as long as the first round is being drawn and none of it is left.
    [[nodiscard]] std::optional<Lease> take();

    uint64_t drawn_total() const { return drawn_.load(std::memory_order_acquire); }
    uint64_t taken_total() const { return taken_.load(std::memory_order_relaxed); }
    uint64_t reused_total() const { return reused_total_.load(std::memory_order_relaxed); }

private:
    static bool enter(Slot&);
    std::optional<Lease> take_fresh();
    std::optional<Lease> take_again();
    bool draw_next();
    void run();

    const size_t slots_count_;
    const std::unique_ptr<Slot[]> slots_;
    const Draw draw_;
    const Random random_;

    alignas(64) std::atomic<uint64_t> taken_{0};
    alignas(64) std::atomic<uint64_t> drawn_{0};
    std::atomic<uint64_t> reused_total_{0};

    Wakeup wakeup_;
    std::atomic<bool> stopping_{false};
    std::once_flag begun_;
    std::thread thread_;
};

// The real thing: the text and all of the drawing follow from the seed.
ImagePool::Draw draw_checks();

}  // namespace doorbuster
