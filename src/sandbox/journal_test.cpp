#include "sandbox/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sandbox/testing.hpp"

namespace doorbuster::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalFile : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "doorbuster-journal-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        path_ = folder_ / "payments.jsonl";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Result<Journal, std::string> open() {
        restored_.clear();
        return Journal::open(path_, [this](const Payment& payment) { restored_.push_back(payment); });
    }
    void add(std::string_view text) { std::ofstream(path_, std::ios::app) << text; }

    std::filesystem::path folder_, path_;
    std::vector<Payment> restored_;
};

const Payment paid{.key = "k",
                   .state = PaymentState::captured,
                   .intent = {.amount_minor = 1999,
                              .currency = "CNY",
                              .reference = "order \"1\"\n",
                              .return_url = "http://shop/?a=1"},
                   .captured_minor = 1998,
                   .captured_currency = "USD",
                   .version = 3};
const Payment tombstone{.key = "t", .state = PaymentState::voided, .version = 1};

TEST_F(JournalFile, WhatWasAppendedIsThereAfterARestart) {
    {
        auto journal = open();
        ASSERT_TRUE(journal.has_value()) << journal.error();
        EXPECT_TRUE(restored_.empty());
        EXPECT_TRUE(journal->append(paid).has_value());
        EXPECT_TRUE(journal->append(tombstone).has_value());
    }
    ASSERT_TRUE(open().has_value());
    EXPECT_THAT(restored_, ElementsAre(paid, tombstone));
}

TEST_F(JournalFile, AHalfLineAtTheEndIsCutOff) {
    add(journal_line(paid) + '\n' + journal_line(tombstone).substr(0, 20));
    {
        auto journal = open();
        ASSERT_TRUE(journal.has_value()) << journal.error();
        EXPECT_THAT(restored_, ElementsAre(paid));
        EXPECT_TRUE(journal->append(tombstone).has_value());
    }
    ASSERT_TRUE(open().has_value());
    EXPECT_THAT(restored_, ElementsAre(paid, tombstone));
}

TEST_F(JournalFile, ALineInTheMiddleThatIsNoPaymentStopsTheStart) {
    for (const std::string_view line : {"{}", "", "nonsense", R"({"key":"a b"})"}) {
        std::filesystem::remove(path_);
        add(journal_line(paid) + '\n' + std::string(line) + '\n' + journal_line(paid) + '\n');
        ASSERT_TRUE(open().has_error()) << line;
        EXPECT_THAT(open().error(), HasSubstr("line 2"));
    }
}

TEST_F(JournalFile, AFileThatCannotBeOpenedIsAnError) {
    path_ = folder_ / "missing" / "payments.jsonl";
    EXPECT_THAT(open().error(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace doorbuster::sandbox
