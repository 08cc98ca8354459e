#include "sandbox/webhook_sender.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "outbound/web_server_testing.hpp"

namespace doorbuster::sandbox {
namespace {

using namespace std::chrono_literals;
using doorbuster::testing::WebRequest;
using doorbuster::testing::WebServer;

// An hour passes at every look: no pause is waited for.
class HurriedClock final : public Clock {
public:
    Instant now() override { return from_ms(1'700'000'000'000); }
    Uptime uptime() override { return Uptime(passed_ += Uptime(1h).count()); }

private:
    std::atomic<int64_t> passed_{0};
};

// A merchant that answers by a script, and remembers.
class Merchant {
public:
    explicit Merchant(std::deque<std::string> statuses = {}) : statuses_(std::move(statuses)) {}

    std::string url() const { return server_.url("/hook"); }
    std::vector<WebRequest> wait_for(size_t count) {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return seen_.size() >= count; });
        return seen_;
    }

private:
    std::string answer(const WebRequest& request) {
        std::lock_guard lock(mutex_);
        seen_.push_back(request);
        arrived_.notify_all();
        std::string status = "204 No Content";
        if (!statuses_.empty()) {
            status = statuses_.front();
            if (statuses_.size() > 1) statuses_.pop_front();
        }
        return WebServer::with_status(status);
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> statuses_;  // the last one stays
    std::vector<WebRequest> seen_;
    WebServer server_{[this](const WebRequest& request) { return answer(request); }};
};

const std::string secret_text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
std::vector<WebhookSecret> secrets() {
    return {*WebhookSecret::parse(secret_text)};
}

WebhookVerdict verdict_on(const WebRequest& request, Clock& clock) {
    const std::string id = request.header("webhook-id"), timestamp = request.header("webhook-timestamp"),
                      signature = request.header("webhook-signature");
    return verify_webhook({.id = id, .timestamp = timestamp, .signature = signature, .body = request.body},
                          secrets(), clock.now());
}

template <class Done>
WebhookCounts counts_when(WebhookSender& sender, Done done) {
    for (;;) {
        const WebhookCounts counts = sender.counts();
        if (done(counts)) return counts;
        std::this_thread::yield();
    }
}

TEST(WebhookSender, DeliversSigned) {
    HurriedClock clock;
    Merchant merchant;
    WebhookSender sender(merchant.url(), secrets(), clock);
    sender.put({.id = "evt_1", .body = R"({"a":1})"});
    const auto seen = merchant.wait_for(1);
    EXPECT_EQ(seen[0].method, "POST");
    EXPECT_EQ(seen[0].path, "/hook");
    EXPECT_EQ(seen[0].body, R"({"a":1})");
    EXPECT_EQ(seen[0].header("Content-Type"), "application/json");
    EXPECT_EQ(seen[0].header("webhook-id"), "evt_1");
    EXPECT_EQ(verdict_on(seen[0], clock), WebhookVerdict::valid);
    counts_when(sender, [](const WebhookCounts& counts) { return counts.delivered == 1; });
}

TEST(WebhookSender, TriesAgainUnderTheSameIdUntilItIsTaken) {
    HurriedClock clock;
    Merchant merchant({"500 Broken", "302 Found", "204 No Content"});
    WebhookSender sender(merchant.url(), secrets(), clock);
    sender.put({.id = "evt_1", .body = "{}"});
    const auto seen = merchant.wait_for(3);
    for (const WebRequest& request : seen) EXPECT_EQ(request.header("webhook-id"), "evt_1");
    const auto counts =
        counts_when(sender, [](const WebhookCounts& now) { return now.delivered + now.given_up == 1; });
    EXPECT_EQ(counts.delivered, 1u);
    EXPECT_EQ(counts.waiting, 0u);
}

TEST(WebhookSender, GivesUpAfterEightTries) {
    HurriedClock clock;
    Merchant merchant({"500 Broken"});
    WebhookSender sender(merchant.url(), secrets(), clock);
    sender.put({.id = "evt_1", .body = "{}"});
    const auto counts = counts_when(sender, [](const WebhookCounts& now) { return now.given_up == 1; });
    EXPECT_EQ(counts.waiting, 0u);
    EXPECT_EQ(merchant.wait_for(8).size(), 8u);
}

TEST(WebhookSender, AForgeryIsSentOnceAndAMerchantThatTakesItIsCounted) {
    HurriedClock clock;
    Merchant merchant({"401 No", "204 No Content"});
    WebhookSender sender(merchant.url(), secrets(), clock);
    sender.put({.id = "evt_1", .body = "{}", .forgery = Forgery::wrong_signature});
    counts_when(sender, [](const WebhookCounts& counts) { return counts.forged_sent == 1; });
    sender.put({.id = "evt_1", .body = "{}", .forgery = Forgery::old_timestamp});
    const auto counts = counts_when(sender, [](const WebhookCounts& now) { return now.forged_sent == 2; });
    EXPECT_EQ(counts.forged_accepted, 1u);
    const auto seen = merchant.wait_for(2);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(verdict_on(seen[0], clock), WebhookVerdict::no_match);
    EXPECT_EQ(verdict_on(seen[1], clock), WebhookVerdict::too_old);
}

TEST(WebhookSender, SendsNothingWithoutAUrl) {
    HurriedClock clock;
    WebhookSender sender("", {}, clock);
    sender.put({.id = "evt_1", .body = "{}"});
    EXPECT_EQ(sender.counts().waiting, 0u);
}

// Time stands still, so that nothing becomes due.
TEST(WebhookSender, DropsAndCountsBeyondItsBound) {
    struct StandingClock final : Clock {
        Instant now() override { return {}; }
        Uptime uptime() override { return {}; }
    } clock;
    WebhookSender sender("http://127.0.0.1:1/", secrets(), clock);
    for (size_t i = 0; i < WebhookSender::waiting_max + 3; ++i) {
        sender.put({.id = "evt", .body = "", .due = std::chrono::hours(1)});
    }
    EXPECT_EQ(sender.counts().waiting, WebhookSender::waiting_max);
    EXPECT_EQ(sender.counts().dropped, 3u);
}

}  // namespace
}  // namespace doorbuster::sandbox
