#include "funnel/image_pool.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/crypto.hpp"
#include "funnel/image_text.hpp"

namespace doorbuster {
namespace {

// Draws nothing: the picture says its seed, twice, so that a torn one shows.
PooledImage numbered(uint64_t seed) {
    return {.text = std::to_string(seed), .data_uri = std::to_string(seed)};
}
ImagePool::Random counting() {
    return [next = uint64_t{0}]() mutable { return next++; };
}
void wait_for(const ImagePool& pool, uint64_t drawn) {
    while (pool.drawn_total() < drawn) std::this_thread::yield();
}
std::string take_text(ImagePool& pool) {
    const auto lease = pool.take();
    return lease ? std::string(lease->text()) : "none";
}

TEST(ImagePool, HasNothingBeforeTheFirstPicture) {
    ImagePool pool(4, numbered, counting());
    EXPECT_FALSE(pool.take());
    EXPECT_EQ(pool.drawn_total(), 0u);
}

TEST(ImagePool, HandsOutEachPictureOnceAndDrawsAnother) {
    ImagePool pool(4, numbered, counting());
    pool.begin();
    std::set<std::string> seen;
    for (uint64_t i = 0; i < 100; ++i) {
        wait_for(pool, i + 1);
        seen.insert(take_text(pool));
    }
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_EQ(pool.reused_total(), 0u);
}

TEST(ImagePool, DrawsNoMoreThanItHoldsRoomFor) {
    ImagePool pool(4, numbered, counting());
    pool.begin();
    wait_for(pool, 4);
    EXPECT_EQ(take_text(pool), "0");
    wait_for(pool, 5);
    EXPECT_EQ(pool.drawn_total(), 5u);
}

TEST(ImagePool, HandsOneOutAgainWhenItIsDryAndCountsIt) {
    // The drawer gets stuck at the fifth picture.
    std::atomic<bool> may_go_on{false};
    ImagePool pool(
        4,
        [&](uint64_t seed) {
            while (seed >= 4 && !may_go_on.load()) std::this_thread::yield();
            return numbered(seed);
        },
        counting());
    pool.begin();
    wait_for(pool, 4);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(take_text(pool), std::to_string(i));
    EXPECT_EQ(pool.reused_total(), 0u);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(take_text(pool), std::to_string(i % 4));
    EXPECT_EQ(pool.reused_total(), 8u);
    may_go_on.store(true);
    wait_for(pool, 5);
    EXPECT_EQ(take_text(pool), "4");
}

TEST(ImagePool, APictureInUseIsNotDrawnOver) {
    ImagePool pool(2, numbered, counting());
    pool.begin();
    wait_for(pool, 2);
    const auto lease = pool.take();
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->text(), "0");
    EXPECT_EQ(take_text(pool), "1");
    // The drawer wants the slot of "0" now and has to wait; meanwhile old ones go out again.
    for (int i = 0; i < 1000; ++i) EXPECT_NE(take_text(pool), "none");
    EXPECT_EQ(lease->text(), "0");
    EXPECT_EQ(pool.drawn_total(), 2u);
}

TEST(ImagePool, ManyThreadsGetWholePicturesAndNoFreshOneTwice) {
    constexpr int threads = 4, takes = 5000;
    ImagePool pool(64, numbered, counting());
    pool.begin();
    wait_for(pool, 64);
    std::atomic<uint64_t> torn{0};
    std::vector<std::thread> crowd;
    for (int t = 0; t < threads; ++t) {
        crowd.emplace_back([&] {
            for (int i = 0; i < takes; ++i) {
                const auto lease = pool.take();
                if (!lease || lease->text() != lease->data_uri()) torn.fetch_add(1);
            }
        });
    }
    for (std::thread& thread : crowd) thread.join();
    EXPECT_EQ(torn.load(), 0u);
    EXPECT_EQ(pool.taken_total() + pool.reused_total(), uint64_t{threads * takes});
    EXPECT_LE(pool.taken_total(), pool.drawn_total());
}

TEST(DrawChecks, ShowsTheTextOfItsSeedInASmallPng) {
    const ImagePool::Draw draw = draw_checks();
    const PooledImage one = draw(1), again = draw(1), two = draw(2);
    EXPECT_EQ(one.text, again.text);
    EXPECT_EQ(one.data_uri, again.data_uri);
    EXPECT_NE(one.text, two.text);
    EXPECT_EQ(one.text.size(), image_characters);
    for (const char c : one.text) EXPECT_NE(image_alphabet.find(c), std::string_view::npos);
    EXPECT_EQ(one.data_uri.substr(0, 33), "data:image/png;base64,iVBORw0KGgo");
    EXPECT_LT(one.data_uri.size(), 8000u);
}

}  // namespace
}  // namespace doorbuster
