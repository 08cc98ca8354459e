#include "server/key_watch.hpp"

#include <gtest/gtest.h>

#include <future>

#include "funnel/shop_key_testing.hpp"
#include "server/key_server_testing.hpp"

namespace doorbuster {
namespace {

using testing::KeyServer;
using testing::ShopKey;

std::string set_of(const ShopKey& key) {
    return R"({"keys":[)" + key.jwk() + "]}";
}

TEST(KeyWatch, HandsOverTheKeysThatTheShopPublishesNext) {
    const ShopKey before(KeyAlgorithm::es256, "2026"), after(KeyAlgorithm::es256, "2027");
    std::atomic<bool> rotated{false};
    const KeyServer server(
        [&](const std::string&) { return KeyServer::ok(set_of(rotated ? after : before)); });
    std::promise<std::shared_ptr<const KeyRing>> handed_over;
    MonotonicClock clock;
    KeyWatch watch({.url = server.url("/keys"), .refresh = std::chrono::seconds(1)}, {}, clock,
                   [&](auto ring) { handed_over.set_value(std::move(ring)); });
    const auto first = watch.load();
    ASSERT_TRUE(first.has_value()) << first.error();
    EXPECT_EQ((*first)->keys().front().kid(), "2026");
    rotated = true;
    watch.start();
    EXPECT_EQ(handed_over.get_future().get()->keys().front().kid(), "2027");
    watch.stop();
}

TEST(KeyWatch, StopsWhileAServerKeepsItWaiting) {
    const ShopKey key(KeyAlgorithm::es256, "2026");
    std::promise<void> waiting;
    std::atomic<size_t> requests{0};
    const KeyServer server([&](const std::string&) {
        if (requests++ == 0) return KeyServer::ok(set_of(key));
        if (requests == 2) waiting.set_value();
        return std::string();
    });
    MonotonicClock clock;
    KeyWatch watch({.url = server.url("/keys"), .refresh = std::chrono::seconds(1)}, {}, clock,
                   [](auto) { FAIL() << "nothing changed"; });
    ASSERT_TRUE(watch.load().has_value());
    watch.start();
    waiting.get_future().wait();
    watch.stop();
}

TEST(KeyWatch, WithoutSourcesRunsNoThread) {
    MonotonicClock clock;
    KeyWatch watch({}, {}, clock, [](auto) { FAIL(); });
    EXPECT_TRUE((*watch.load())->empty());
    watch.start();
    watch.stop();
}

}  // namespace
}  // namespace doorbuster
