#include "funnel/risk_desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/settings_testing.hpp"

namespace doorbuster {
namespace {

using enum Standing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ListEntry entry(std::string_view list, std::string_view kind, std::string_view value) {
    return *ListEntry::from(list, kind, value);
}
const ListEntry block_net = entry("block", "address", "203.0.113.0/24");
const ListEntry allow_net = entry("allow", "address", "203.0.113.0/24");

class Desk : public ::testing::Test {
protected:
    using Published = std::shared_ptr<const RiskLists>;

    RiskDesk::Publish publish() {
        return [this](Published published, const std::function<void()>& shown) {
            lists_ = std::move(published);
            shown_ = shown;
            if (!holds_back_) shown();
        };
    }
    StoreResult<void> put(const ListEntry& what) {
        desk_.put(what, [this](StoreResult<void> done) { done_ = done; });
        return done_.value();
    }
    StoreResult<void> remove(const ListEntry& what) {
        desk_.remove(what, [this](StoreResult<void> done) { done_ = done; });
        return done_.value();
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        desk_.each([&](const RiskDesk::Listed& listed) {
            all.push_back((listed.from_file ? "file: " : "operator: ") + listed.entry.line());
        });
        return all;
    }
    Standing standing() const { return lists_->of(Address::parse("203.0.113.7").value()); }

    testing::MemorySettings settings_;
    Published lists_;
    std::function<void()> shown_;
    bool holds_back_ = false;
    std::optional<StoreResult<void>> done_;
    RiskDesk desk_{settings_, publish()};
};

TEST_F(Desk, AnEntryCountsAndOutlivesARestart) {
    ASSERT_TRUE(put(block_net));
    EXPECT_EQ(standing(), blocked);
    lists_.reset();
    RiskDesk restarted(settings_, publish());
    ASSERT_TRUE(restarted.load());
    EXPECT_EQ(standing(), blocked);
}

TEST_F(Desk, IsAnsweredWhenEveryGateKnows) {
    holds_back_ = true;
    desk_.put(block_net, [this](StoreResult<void> done) { done_ = done; });
    EXPECT_FALSE(done_);
    shown_();
    EXPECT_TRUE(done_);
}

TEST_F(Desk, WhatCouldNotBeKeptDoesNotCount) {
    settings_.is_full = true;
    EXPECT_EQ(put(block_net).error().code, StoreErrc::full);
    EXPECT_EQ(lists_, nullptr);
    settings_.is_full = false;
    ASSERT_TRUE(put(block_net));
    settings_.is_full = true;
    EXPECT_FALSE(remove(block_net));
    EXPECT_EQ(standing(), blocked);
    EXPECT_THAT(lines(), ElementsAre("operator: block address 203.0.113.0/24"));
}

TEST_F(Desk, TheNewestWordOfTheOperatorReplacesTheOneBefore) {
    ASSERT_TRUE(put(block_net));
    ASSERT_TRUE(put(allow_net));
    EXPECT_EQ(standing(), allowed);
    EXPECT_THAT(lines(), ElementsAre("operator: allow address 203.0.113.0/24"));
    EXPECT_EQ(remove(block_net).error().code, StoreErrc::not_found);
    EXPECT_EQ(standing(), allowed);
}

TEST_F(Desk, BetweenFileAndOperatorTheBlockCounts) {
    ASSERT_TRUE(desk_.set_file_entries({block_net}));
    ASSERT_TRUE(put(allow_net));
    EXPECT_EQ(standing(), blocked);
    ASSERT_TRUE(desk_.set_file_entries({allow_net}));
    ASSERT_TRUE(put(block_net));
    EXPECT_EQ(standing(), blocked);
}

TEST_F(Desk, WhatIsRemovedIsGoneAlsoAfterARestart) {
    ASSERT_TRUE(put(block_net));
    ASSERT_TRUE(remove(block_net));
    EXPECT_EQ(standing(), neutral);
    EXPECT_EQ(remove(block_net).error().code, StoreErrc::not_found);
    RiskDesk restarted(settings_, publish());
    ASSERT_TRUE(restarted.load());
    EXPECT_EQ(standing(), neutral);
}

TEST_F(Desk, AnEntryOfTheFileIsRemovedThere) {
    ASSERT_TRUE(desk_.set_file_entries({block_net}));
    const auto removed = remove(block_net);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, StoreErrc::not_allowed);
    EXPECT_THAT(removed.error().detail, HasSubstr("risk.lists_file"));
    EXPECT_EQ(standing(), blocked);
    EXPECT_THAT(lines(), ElementsAre("file: block address 203.0.113.0/24"));
}

TEST_F(Desk, ANewFileReplacesTheOldOneAndNotTheOperator) {
    ASSERT_TRUE(put(entry("block", "buyer", "mallory")));
    ASSERT_TRUE(desk_.set_file_entries({block_net}));
    ASSERT_TRUE(desk_.set_file_entries({entry("allow", "buyer", "alice")}));
    EXPECT_EQ(standing(), neutral);
    EXPECT_EQ(lists_->of(BuyerId("alice")), allowed);
    EXPECT_EQ(lists_->of(BuyerId("mallory")), blocked);
}

TEST_F(Desk, WhatAnotherProcessChangesCountsHereAfterALook) {
    RiskDesk other(settings_, [](const auto&, const auto& shown) { shown(); });
    const auto ignore = [](const StoreResult<void>& done) { EXPECT_TRUE(done); };
    ASSERT_TRUE(desk_.look());
    EXPECT_EQ(lists_, nullptr) << "nothing new, nothing published";
    other.put(block_net, ignore);
    ASSERT_TRUE(desk_.look());
    EXPECT_EQ(standing(), blocked);
    other.remove(block_net, ignore);
    ASSERT_TRUE(desk_.look());
    EXPECT_EQ(standing(), neutral);
    lists_.reset();
    ASSERT_TRUE(desk_.look());
    EXPECT_EQ(lists_, nullptr);
}

TEST_F(Desk, AChangeIsMadeToWhatAnotherProcessLeft) {
    RiskDesk other(settings_, [](const auto&, const auto& shown) { shown(); });
    ASSERT_TRUE(put(block_net));
    other.put(entry("block", "buyer", "mallory"), [](const StoreResult<void>& done) { EXPECT_TRUE(done); });
    ASSERT_TRUE(put(entry("allow", "buyer", "alice")));
    EXPECT_THAT(lines(), ElementsAre("operator: block address 203.0.113.0/24", "operator: allow buyer alice",
                                     "operator: block buyer mallory"));
    other.remove(block_net, [](const StoreResult<void>& done) { EXPECT_TRUE(done); });
    EXPECT_EQ(remove(block_net).error().code, StoreErrc::not_found);
}

TEST_F(Desk, WhatCannotBeReadLeavesTheListsAsTheyWereAndIsNotOverwritten) {
    ASSERT_TRUE(put(block_net));
    ASSERT_TRUE(settings_.put("risk.lists", "a newer program's word"));
    EXPECT_EQ(desk_.look().error().code, StoreErrc::damaged);
    EXPECT_EQ(standing(), blocked);
    EXPECT_EQ(put(allow_net).error().code, StoreErrc::damaged);
    EXPECT_EQ(standing(), blocked);
    EXPECT_EQ(*settings_.get("risk.lists"), "a newer program's word");
}

TEST_F(Desk, FullListsTakeNoMoreAndKeepWhatTheyHave) {
    std::vector<ListEntry> many;
    for (size_t i = 0; i + 1 < RiskLists::entries_max; ++i) {
        many.push_back(entry("block", "buyer", "b" + std::to_string(i)));
    }
    ASSERT_TRUE(desk_.set_file_entries(many));
    ASSERT_TRUE(put(block_net));
    ASSERT_TRUE(put(allow_net)) << "replaces the one before";
    EXPECT_EQ(put(entry("block", "buyer", "one-more")).error().code, StoreErrc::not_allowed);
    many.push_back(entry("block", "buyer", "another"));
    EXPECT_FALSE(desk_.set_file_entries(many));
    EXPECT_EQ(lists_->of(BuyerId("b7")), blocked);
    EXPECT_EQ(lists_->of(BuyerId("another")), neutral);
}

}  // namespace
}  // namespace doorbuster
