#include "http/page_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The pages as a gate would have them.
class PageThreadTest : public ::testing::Test {
protected:
    PageThreadTest() { thread_.start(); }

    static std::shared_ptr<const ListedSale> listed(SaleState state,
                                                    const std::string& title = "Phone drop") {
        Sale sale = testing::phone_drop();
        sale.title = title;
        return std::make_shared<const ListedSale>(
            ListedSale{.sale = std::move(sale), .state = state, .version = 1, .items = {}});
    }

    // Returns when the thread says that it is shown.
    void follow(std::shared_ptr<const ListedSale> sale) {
        std::promise<void> shown;
        thread_.follow(std::make_shared<const Catalogue>(Catalogue::Sales{{"phone-drop", std::move(sale)}}),
                       [&] { shown.set_value(); });
        shown.get_future().get();
    }

    std::shared_ptr<const Page> page(const std::string& path) {
        std::lock_guard lock(mutex_);
        return pages_[path];
    }
    std::shared_ptr<const Page> page_with_brotli(const std::string& path) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return pages_[path] && pages_[path]->brotli.is_made(); });
        return pages_[path];
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::shared_ptr<const Page>> pages_;
    int shown_ = 0;
    PageThread thread_{{}, [this](const std::string& path, std::shared_ptr<const Page> page) {
                           std::lock_guard lock(mutex_);
                           pages_[path] = std::move(page);
                           ++shown_;
                           changed_.notify_all();
                       }};
};

const std::string path = "/sales/phone-drop";

TEST_F(PageThreadTest, ThePagesThatAreNoSalesAreThereAtOnce) {
    for (const char* of : {"/", "/orders", PageThread::closed_path, PageThread::missing_path}) {
        ASSERT_NE(page(of), nullptr) << of;
        EXPECT_TRUE(page(of)->gzip.is_made()) << of;
        EXPECT_TRUE(page_with_brotli(of)->brotli.is_made()) << of;
    }
}

TEST_F(PageThreadTest, WhoHeardOfASaleFindsItsPage) {
    follow(listed(SaleState::scheduled));
    ASSERT_NE(page(path), nullptr);
    EXPECT_TRUE(page(path)->gzip.is_made());
    EXPECT_THAT(page(path)->plain.body, HasSubstr(R"("state":"scheduled")"));
    EXPECT_THAT(page_with_brotli(path)->plain.body, HasSubstr(R"("state":"scheduled")"));
}

TEST_F(PageThreadTest, AChangeIsShown) {
    follow(listed(SaleState::ready));
    follow(listed(SaleState::open, "Renamed"));
    EXPECT_THAT(page(path)->plain.body, HasSubstr("Renamed"));
    EXPECT_THAT(page(path)->plain.body, HasSubstr(R"("state":"open")"));
}

TEST_F(PageThreadTest, WhatAPageDoesNotShowMakesNoNewOne) {
    follow(listed(SaleState::open));
    const auto before = page_with_brotli(path);
    follow(listed(SaleState::open));
    EXPECT_EQ(page(path), before);
}

TEST_F(PageThreadTest, ADraftHasNoPage) {
    follow(listed(SaleState::draft));
    EXPECT_EQ(page(path), nullptr);
    follow(listed(SaleState::scheduled));
    EXPECT_NE(page(path), nullptr);
    follow(listed(SaleState::draft));
    EXPECT_EQ(page(path), nullptr);
}

TEST_F(PageThreadTest, WhoFollowsAfterTheEndIsToldAllTheSame) {
    thread_.stop();
    follow(listed(SaleState::open));
    EXPECT_EQ(page(path), nullptr);
}

}  // namespace
}  // namespace doorbuster
