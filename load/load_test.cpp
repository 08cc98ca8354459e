#include <gtest/gtest.h>

#include <set>

#include "funnel/identity.hpp"
#include "load/answers.hpp"
#include "load/open_report.hpp"
#include "load/requests.hpp"
#include "load/schedule.hpp"

namespace doorbuster::load {
namespace {

RequestTerms terms() {
    return {.host = "127.0.0.1:8080",
            .sale = "drop",
            .item = "phone",
            .secret = "0123456789abcdef0123456789abcdef",
            .buyers = "crowd",
            .now = std::chrono::sys_seconds(std::chrono::seconds(1'800'000'000))};
}

TEST(Requests, EveryBuyerAndKeyIsItsOwn) {
    const Requests requests(terms(), 100);
    const auto field = [](std::string_view request, std::string_view name) {
        const size_t begin = request.find(name) + name.size();
        return request.substr(begin, request.find("\r\n", begin) - begin);
    };
    const Identity identity(terms().secret);
    std::set<std::string> buyers, keys;
    for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_TRUE(requests[i].starts_with("POST /v1/sales/drop/purchases HTTP/1.1\r\n"));
        EXPECT_TRUE(requests[i].ends_with("\r\n\r\n{\"item\":\"phone\",\"quantity\":1}"));
        const auto who = identity.verify(field(requests[i], "Authorization: Bearer "), terms().now);
        ASSERT_TRUE(who.has_value()) << "the product itself believes its buyers";
        buyers.emplace(who->buyer.view());
        keys.emplace(field(requests[i], "Idempotency-Key: "));
    }
    EXPECT_EQ(buyers.size(), 100u);
    EXPECT_EQ(keys.size(), 100u);
}

TEST(Requests, SameTermsGiveTheSameBytes) {
    const Requests one(terms(), 3), other(terms(), 3);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], other[i]);
}

TEST(Requests, TokenHasAboutTwoHundredBytes) {
    const size_t size = buyer_token("crowd-00000001", terms().secret, terms().now).size();
    EXPECT_GE(size, 180u);
    EXPECT_LE(size, 220u);
}

TEST(AnswerHead, CountsTheBodyThatIsStillToCome) {
    AnswerHead head;
    const std::string_view bytes = "HTTP/1.1 409 Conflict\r\nDate: today\r\nContent-Length: 12\r\n\r\n{\"a\"";
    EXPECT_EQ(read_answer_head(bytes, head), HeadFound::complete);
    EXPECT_EQ(head.status, 409);
    EXPECT_EQ(head.size, bytes.find('{') + 12);
}

TEST(AnswerHead, WaitsForTheEmptyLine) {
    AnswerHead head;
    EXPECT_EQ(read_answer_head("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", head), HeadFound::more_needed);
}

TEST(AnswerHead, WhatHasNoLengthIsNotUnderstood) {
    AnswerHead head;
    EXPECT_EQ(read_answer_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head),
              HeadFound::malformed);
    EXPECT_EQ(read_answer_head("SSH-2.0\r\n\r\n", head), HeadFound::malformed);
}

TEST(Schedule, ArrivalsAreEvenlySpacedAndPhasesFollowEachOther) {
    using namespace std::chrono_literals;
    const Schedule schedule(*Schedule::parse("10:2,100:0.5"));
    EXPECT_EQ(schedule.size(), 70u);
    EXPECT_EQ(schedule.length(), 2500ms);
    EXPECT_EQ(schedule.due(0), 0ms);
    EXPECT_EQ(schedule.due(19), 1900ms);
    EXPECT_EQ(schedule.due(20), 2000ms);
    EXPECT_EQ(schedule.due(69), 2490ms);
}

TEST(Schedule, WhatIsNoScheduleIsNotRead) {
    for (const char* text : {"", "10", "10:", ":1", "0:1", "-1:1", "10:1,", "10:1;2:3", "1e9:1", "nan:1"}) {
        EXPECT_FALSE(Schedule::parse(text)) << text;
    }
}

TEST(OpenReport, CountsADecisionWhenItCameAndAWaitWhenItWasDue) {
    const std::vector<Phase> phases{{.rate_per_second = 2, .seconds = 1},
                                    {.rate_per_second = 2, .seconds = 1}};
    OpenTally tally;
    // Due at 0, 0.5, 1 and 1.5 s. The second is answered only in the second phase.
    tally.fates = {{.status = 202, .waited_us = 1000},
                   {.status = 409, .waited_us = 700'000},
                   {.status = 503, .waited_us = 2000},
                   {.status = Fate::left, .waited_us = 400'000}};
    const std::string report = open_report(phases, Schedule(phases), tally);
    EXPECT_NE(report.find(R"("due":2,"left":0,"lost":0,"pending":0,"status":{"202":1,"409":1},)"
                          R"("over_at_s":1.200,"answered_per_second":1.0,"decided_per_second":1.0,)"),
              std::string::npos)
        << report;
    EXPECT_NE(report.find(R"("due":2,"left":1,"lost":0,"pending":0,"status":{"503":1},)"
                          R"("over_at_s":1.900,"answered_per_second":2.0,"decided_per_second":1.0,)"),
              std::string::npos)
        << report;
    EXPECT_NE(report.find(R"("answered_ms_p99":700.00)"), std::string::npos) << report;
}

}  // namespace
}  // namespace doorbuster::load
