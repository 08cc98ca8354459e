// WebhookSender: brings webhooks to the merchant, each at its time, until it is taken.
//
// Two threads, so that one merchant's slow answer does not hold up everything. What is not taken
// (2xx) is tried again after 1, 2, 4, ... seconds, at most 8 times, then given up. At the bound
// of its queue a webhook is dropped, counted and told to the log: a provider that loses events
// is what the merchant must live with anyway. What waits when it is stopped is never sent.
//
// Thread safety: every call from any thread.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/standard_webhooks.hpp"
#include "outbound/http_caller.hpp"
#include "sandbox/webhook.hpp"

namespace doorbuster::sandbox {

// How they fared so far.
struct WebhookCounts {
    uint64_t delivered = 0;
    uint64_t given_up = 0;  // refused eight times
    uint64_t dropped = 0;   // at the queue's bound
    uint64_t waiting = 0;
    uint64_t forged_sent = 0;
    uint64_t forged_accepted = 0;  // 2xx to a forgery: the merchant is broken
};

class WebhookSender {
public:
    static constexpr size_t waiting_max = 65'536;
    static constexpr unsigned tries_max = 8;

    // Without a URL nothing is sent. REQUIRES: with one, at least one secret.
    WebhookSender(std::string url, std::vector<WebhookSecret> secrets, Clock& clock);
    ~WebhookSender();

    void put(Webhook webhook);
    WebhookCounts counts() const;

private:
    struct Delivery {
        Webhook webhook;
        unsigned tries = 0;
    };

    void run(HttpCaller& caller);
    bool deliver(HttpCaller& caller, const Webhook& webhook);
    void settle(Delivery delivery, bool is_taken);  // under the lock
    void put(Delivery delivery, Uptime due);        // under the lock

    // Fixed at construction.
    const std::string url_;
    const std::vector<WebhookSecret> secrets_;
    const std::vector<WebhookSecret> foreign_secrets_;  // what forgeries are signed with
    Clock& clock_;

    // Under the lock.
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<Uptime, Delivery> waiting_;
    WebhookCounts counts_;
    bool is_stopping_ = false;

    std::array<HttpCaller, 2> callers_;
    std::vector<std::thread> threads_;
};

}  // namespace doorbuster::sandbox
