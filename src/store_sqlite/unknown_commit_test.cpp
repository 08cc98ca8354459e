// A commit that fails may have landed: nothing is written after it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

// While it lives no file of this process can grow.
class FullDisk {
public:
    FullDisk() : handler_(signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &none);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(UnknownCommit, NothingIsWrittenAfterIt) {
    testing::TemporaryFolder folder;
    auto orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    ASSERT_TRUE(orders->settings().put("level", "before"));
    {
        FullDisk full;
        const auto failed = orders->settings().put("level", "unknown");
        ASSERT_FALSE(failed);
        ASSERT_TRUE(failed.error().outcome_unknown) << failed.error().text();
    }
    ASSERT_TRUE(orders->failure());
    const auto after = orders->settings().put("level", "after");
    ASSERT_FALSE(after) << "there is room again, but what the disk has is not known";
    EXPECT_TRUE(after.error().outcome_unknown);
    EXPECT_FALSE(orders->tell_sold_out(SaleId{}, true, Instant{})) << "nor by another part of the store";

    orders.reset();
    orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    EXPECT_NE(orders->settings().get("level")->value(), "after");
    EXPECT_TRUE(orders->settings().put("level", "again")) << "a new process reads what landed, and goes on";
}

}  // namespace
}  // namespace doorbuster
