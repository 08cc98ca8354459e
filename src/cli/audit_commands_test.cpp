// reconcile and replay: what they ask the server, what they make of its answer, how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/cli.hpp"
#include "cli/one_answer_testing.hpp"

namespace doorbuster {
namespace {

using testing::HasSubstr;

constexpr const char* clean =
    R"({"run":3,"sale":"phone-drop","at":"2026-12-01T12:00:00.000Z","position":9,"in_flight":1,"agrees":true,)"
    R"("differences_total":0,"repaired_total":0,"left_out":0,"items":[{"id":"phone","units_total":10,)"
    R"("units_available":7,"units_held":2,"orders_held":2,"units_sold":1,"orders_sold":1,"orders_open":0,)"
    R"("in_flight":1}],"checks":[{"check":"units","records":3,"differences":0,"known":0}],"differences":[]})";
constexpr const char* spoilt =
    R"({"run":2,"sale":"phone-drop","agrees":false,"differences_total":1,"repaired_total":1,"items":[],)"
    R"("checks":[],"differences":[{"kind":"units","where":"phone-drop/phone","item":"phone","order":null,)"
    R"("detail":"off by one","repair":"add +1","outcome":"repaired","error":""}]})";

class AuditCommands : public testing::Test {
protected:
    int run(std::vector<std::string> words) {
        CliWorld world{in_, out_, err_, {{"DOORBUSTER_ADMIN__KEY", "0123456789abcdef0123456789abcdef"}}};
        return run_cli(words, world, {});
    }
    std::string asked(std::vector<std::string> words, const std::string& body) {
        OneAnswer peer("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                       body);
        words.insert(words.end(), {"--admin", "127.0.0.1:" + std::to_string(peer.port())});
        code_ = run(words);
        request_ = peer.request();
        return request_.substr(0, request_.find("\r\n"));
    }
    static std::string answer(const std::string& agrees, const std::string& report,
                              const std::string& after) {
        return R"({"agrees":)" + agrees + R"(,"report":)" + report + R"(,"after_repair":)" + after + "}";
    }
    std::string out() const { return out_.str(); }

    int code_ = -1;
    std::string request_;
    std::istringstream in_;
    std::ostringstream out_, err_;
};

TEST_F(AuditCommands, AReconciliationThatAgreesEndsWithZero) {
    EXPECT_EQ(asked({"reconcile", "phone-drop"}, answer("true", clean, "null")),
              "POST /v1/sales/phone-drop/reconcile HTTP/1.1");
    EXPECT_EQ(code_, 0);
    EXPECT_THAT(out(), HasSubstr("all records agree"));
    EXPECT_THAT(out(), HasSubstr("AVAILABLE"));
}

TEST_F(AuditCommands, ADifferenceEndsWithFourAndIsNamed) {
    asked({"reconcile", "phone-drop"}, answer("false", spoilt, "null"));
    EXPECT_EQ(code_, 4);
    EXPECT_THAT(
        out(),
        HasSubstr("units  phone-drop/phone  (repaired)\n  off by one\n  item phone\n  repair: add +1\n"));
}

TEST_F(AuditCommands, WhatWasRepairedEndsWithZeroIfAllAgreesNow) {
    asked({"reconcile", "phone-drop", "--repair"}, answer("true", spoilt, clean));
    EXPECT_EQ(code_, 0);
    EXPECT_THAT(out(), HasSubstr("after the repair:\n"));
}

TEST_F(AuditCommands, EachKeyThatIsAcknowledgedIsSent) {
    std::string found = spoilt;
    found.replace(found.find("\"where\""), 0, R"("key":"order_twice:phone-drop:o7",)");
    asked({"reconcile", "phone-drop", "--acknowledge", "order_twice:phone-drop:o7", "--acknowledge",
           "holding_over_limit:phone-drop:\"x\""},
          answer("false", found, "null"));
    EXPECT_EQ(code_, 4);
    EXPECT_THAT(request_, testing::EndsWith(R"({"repair":false,"acknowledge":["order_twice:phone-drop:o7",)"
                                            R"("holding_over_limit:phone-drop:\"x\""]})"));
    EXPECT_THAT(out(), HasSubstr("  key: order_twice:phone-drop:o7\n"));
}

TEST_F(AuditCommands, OutWritesBothFilesOfEveryReport) {
    std::string folder = (std::filesystem::temp_directory_path() / "doorbuster-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    asked({"reconcile", "phone-drop", "--repair", "--out", folder + "/reports"},
          answer("true", spoilt, clean));
    EXPECT_EQ(code_, 0) << err_.str();
    for (const char* name : {"2.json", "2.html", "3.json", "3.html"})
        EXPECT_TRUE(std::filesystem::exists(folder + "/reports/reconciliation-phone-drop-" + name)) << name;
    std::ifstream page(folder + "/reports/reconciliation-phone-drop-2.html");
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    EXPECT_THAT(text, HasSubstr("<!doctype html>"));
    EXPECT_THAT(text, HasSubstr("off by one"));
    std::filesystem::remove_all(folder);
}

TEST_F(AuditCommands, TheHistoryIsATable) {
    EXPECT_EQ(
        asked({"reconcile", "phone-drop", "--history"},
              R"({"reconciliations":[{"run":3,"at":"2026-12-01T12:00:00.000Z","trigger":"timer",)"
              R"("position":9,"agrees":true,"differences_total":0,"known_total":0,"repaired_total":0}]})"),
        "GET /v1/sales/phone-drop/reconciliations HTTP/1.1");
    EXPECT_EQ(code_, 0);
    EXPECT_THAT(out(), HasSubstr("timer"));
}

TEST_F(AuditCommands, AReplayTellsBothDigests) {
    const std::string same =
        R"({"sale":"phone-drop","position":9,"ledger_records":9,"moves":2,"in_flight":0,"agrees":true,)"
        R"("digest_replayed":"aa","digest_stored":"aa","mismatches_total":0,"mismatches":[]})";
    EXPECT_EQ(asked({"replay", "phone-drop"}, same), "POST /v1/sales/phone-drop/replay HTTP/1.1");
    EXPECT_EQ(code_, 0);
    EXPECT_THAT(out(), HasSubstr("bit for bit"));
    asked({"replay", "phone-drop"},
          R"({"agrees":false,"mismatches_total":1,"mismatches":["item phone: off"]})");
    EXPECT_EQ(code_, 4);
    EXPECT_THAT(out(), HasSubstr("item phone: off"));
    asked({"replay", "phone-drop"}, R"({"agrees":true,"mismatches":[],"not_compared":["the moon"]})");
    EXPECT_THAT(out(), HasSubstr("not compared: the moon"));
}

TEST_F(AuditCommands, WhatIsNoReportFails) {
    asked({"reconcile", "phone-drop"}, "[]");
    EXPECT_EQ(code_, 1);
    asked({"replay", "phone-drop"}, "{}");
    EXPECT_EQ(code_, 1);
}

TEST_F(AuditCommands, WhatIsNotUnderstoodIsExitTwo) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"reconcile"},
          {"reconcile", "No Sale"},
          {"reconcile", "phone-drop", "--history", "--repair"},
          {"reconcile", "phone-drop", "--history", "--acknowledge", "key"},
          {"reconcile", "phone-drop", "--acknowledge"},
          {"replay"},
          {"replay", "../etc"}}) {
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
    }
}

}  // namespace
}  // namespace doorbuster
