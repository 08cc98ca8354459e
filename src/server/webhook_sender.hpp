// WebhookSender: carries the notifier's messages to the shop, off the orders thread.
//
// One thread per call under way. A slow or dead receiver holds nothing up but deliveries; the
// address that is really dialled is judged (outbound/http_caller.hpp), so that the configured
// name cannot lead into the private network unless that is allowed.
//
// What came of each call waits here until the orders thread takes it in step(): an answer can
// neither be refused for want of room nor get lost. At a stop the calls under way are cut off and
// count as never made; they are made again after the next start.
//
// Bounds: the notifier hands over at most in_flight_max messages at a time.
// Thread safety: set_target, describe and stop from any thread; step, notifier and finish on the
// orders thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/standard_webhooks.hpp"
#include "config/config.hpp"
#include "metrics/money.hpp"
#include "orders/notifier.hpp"
#include "outbound/http_caller.hpp"

namespace doorbuster {

// Where to, and how signed. Without a URL nothing is delivered.
struct WebhookTarget {
    std::string url;
    std::vector<WebhookSecret> secrets;  // all sign, so that they can be changed one after the other
    bool private_addresses_allowed = false;
    milliseconds timeout{10'000};

    // REQUIRES: a configuration that passed its rules.
    static WebhookTarget of(const WebhooksOptions&);
};

class WebhookSender {
public:
    struct Options {
        size_t in_flight_max = 8;
        uint64_t seed = 0;  // of the retries' jitter
    };

    // `wake` is called on any thread when step() has something to do.
    WebhookSender(Outbox& outbox, OrdersReader& reader, Clock& clock, const Options& options,
                  std::function<void()> wake);
    ~WebhookSender();

    // Takes effect with the next message.
    void set_target(WebhookTarget target);

    void start();
    void stop();

    // One turn of the notifier. True: there is more to do at once.
    [[nodiscard]] StoreResult<bool> step(Instant now, Uptime uptime);
    // Instead, while another process delivers.
    [[nodiscard]] StoreResult<void> rest(Instant now);
    // After stop(): writes down what was answered.
    [[nodiscard]] StoreResult<void> finish(Instant now);

    // The admin interface's, on the orders thread.
    Notifier& notifier() { return notifier_; }
    // Adds the deliveries' figures.
    void describe(MoneyFigures& figures, Instant now) const;

private:
    void work(HttpCaller& caller);
    void take_answers();

    Clock& clock_;
    const std::function<void()> wake_;
    Notifier notifier_;  // the orders thread's

    std::mutex mutex_;
    std::condition_variable waiting_;
    // Guarded by mutex_.
    std::shared_ptr<const WebhookTarget> target_ = std::make_shared<WebhookTarget>();
    std::deque<Notifier::Message> messages_;
    std::vector<Notifier::Answer> answers_;
    bool stopping_ = false;

    std::vector<std::unique_ptr<HttpCaller>> callers_;
    std::vector<std::thread> threads_;
};

}  // namespace doorbuster
