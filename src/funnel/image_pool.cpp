#include "funnel/image_pool.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/check.hpp"
#include "base/crypto.hpp"
#include "base/threads.hpp"
#include "funnel/dice.hpp"
#include "funnel/image_draw.hpp"
#include "funnel/image_text.hpp"

namespace doorbuster {

struct alignas(64) ImagePool::Slot {
    static constexpr int32_t writing = -1;

    std::atomic<int32_t> users{0};
    PooledImage image;
};

ImagePool::ImagePool(size_t slots, Draw draw, Random random)
    : slots_count_(slots), slots_(new Slot[slots]), draw_(std::move(draw)), random_(std::move(random)) {
    CHECK(slots >= 2);
}

ImagePool::~ImagePool() {
    stopping_.store(true);
    wakeup_.wake();
    if (thread_.joinable()) thread_.join();
}

void ImagePool::begin() {
    std::call_once(begun_, [this] { thread_ = std::thread([this] { run(); }); });
}

bool ImagePool::enter(Slot& slot) {
    int32_t users = slot.users.load(std::memory_order_relaxed);
    while (users != Slot::writing) {
        if (slot.users.compare_exchange_weak(users, users + 1, std::memory_order_acquire)) return true;
    }
    return false;
}

ImagePool::Lease::~Lease() {
    if (slot_ != nullptr) slot_->users.fetch_sub(1, std::memory_order_release);
}
std::string_view ImagePool::Lease::text() const {
    return slot_->image.text;
}
std::string_view ImagePool::Lease::data_uri() const {
    return slot_->image.data_uri;
}

std::optional<ImagePool::Lease> ImagePool::take() {
    if (auto lease = take_fresh()) {
        wakeup_.wake();
        return lease;
    }
    return take_again();
}

std::optional<ImagePool::Lease> ImagePool::take_fresh() {
    uint64_t next = taken_.load(std::memory_order_relaxed);
    while (next < drawn_.load(std::memory_order_acquire)) {
        Slot& slot = slots_[next % slots_count_];
        // Entered before it counts as taken, so that the drawer cannot come in between.
        if (!enter(slot)) {
            // Being drawn anew: others have taken it since `next` was read.
            next = taken_.load(std::memory_order_relaxed);
            continue;
        }
        Lease lease(slot);
        if (taken_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) return lease;
    }
    return std::nullopt;
}

std::optional<ImagePool::Lease> ImagePool::take_again() {
    // Before all are there, a few would be seen by everybody.
    if (drawn_.load(std::memory_order_acquire) < slots_count_) return std::nullopt;
    // The drawer holds one slot at most, so the next one is to be had.
    for (uint64_t at = reused_total_.fetch_add(1, std::memory_order_relaxed);; ++at) {
        Slot& slot = slots_[at % slots_count_];
        if (enter(slot)) return Lease(slot);
    }
}

// True if there was one to draw.
bool ImagePool::draw_next() {
    const uint64_t next = drawn_.load(std::memory_order_relaxed);
    if (next - taken_.load(std::memory_order_acquire) >= slots_count_) return false;
    PooledImage image = draw_(random_());

    Slot& slot = slots_[next % slots_count_];
    int32_t nobody = 0;
    while (!slot.users.compare_exchange_weak(nobody, Slot::writing, std::memory_order_acquire)) {
        // Somebody copies it out at this moment.
        nobody = 0;
        std::this_thread::yield();
    }
    slot.image = std::move(image);
    slot.users.store(0, std::memory_order_release);
    drawn_.store(next + 1, std::memory_order_release);
    return true;
}

void ImagePool::run() {
    set_thread_up("images", -1);
    // Whatever else wants the core goes first. On Linux this is the thread's own.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
    while (!stopping_.load(std::memory_order_relaxed)) {
        if (!draw_next()) wakeup_.sleep(std::chrono::hours(1));
    }
}

ImagePool::Draw draw_checks() {
    return [drawer = std::make_shared<ImageDrawer>()](uint64_t seed) {
        Dice dice(seed);
        std::string text = random_image_text(dice);
        std::string uri = "data:image/png;base64," + base64(png_of(drawer->draw(text, dice.next())));
        return PooledImage{.text = std::move(text), .data_uri = std::move(uri)};
    };
}

}  // namespace doorbuster
