#include "sandbox/webhook_sender.hpp"

#include <bit>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"

namespace doorbuster::sandbox {

namespace {

constexpr std::chrono::hours old_by{1};
constexpr std::chrono::seconds first_pause{1};

}  // namespace

WebhookSender::WebhookSender(std::string url, std::vector<WebhookSecret> secrets, Clock& clock)
    : url_(std::move(url)),
      secrets_(std::move(secrets)),
      foreign_secrets_{*WebhookSecret::parse(WebhookSecret::generate())},
      clock_(clock) {
    if (url_.empty()) return;
    CHECK(!secrets_.empty());
    for (HttpCaller& caller : callers_) {
        threads_.emplace_back([this, &caller] { run(caller); });
    }
}

WebhookSender::~WebhookSender() {
    {
        std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    wake_.notify_all();
    for (HttpCaller& caller : callers_) caller.cancel();
    for (std::thread& thread : threads_) thread.join();
}

WebhookCounts WebhookSender::counts() const {
    std::lock_guard lock(mutex_);
    WebhookCounts counts = counts_;
    counts.waiting = waiting_.size();
    return counts;
}

void WebhookSender::put(Webhook webhook) {
    if (url_.empty()) return;
    const Uptime due = webhook.due;
    {
        std::lock_guard lock(mutex_);
        put(Delivery{.webhook = std::move(webhook)}, due);
    }
    wake_.notify_one();
}

void WebhookSender::put(Delivery delivery, Uptime due) {
    if (waiting_.size() < waiting_max) {
        waiting_.emplace(due, std::move(delivery));
        return;
    }
    ++counts_.dropped;
    // The 1st, 2nd, 4th, 8th ...: told, and never a flood.
    if (std::has_single_bit(counts_.dropped)) {
        log_warn("webhooks are dropped, too many wait",
                 {{"dropped", counts_.dropped}, {"waiting", waiting_max}});
    }
}

void WebhookSender::run(HttpCaller& caller) {
    set_thread_up("webhooks", -1);
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        if (waiting_.empty()) {
            wake_.wait(lock);
            continue;
        }
        const Uptime wait = waiting_.begin()->first - clock_.uptime();
        if (wait > Uptime{}) {
            wake_.wait_for(lock, wait);
            continue;
        }
        Delivery delivery = std::move(waiting_.extract(waiting_.begin()).mapped());
        lock.unlock();
        const bool is_taken = deliver(caller, delivery.webhook);
        lock.lock();
        settle(std::move(delivery), is_taken);
    }
}

bool WebhookSender::deliver(HttpCaller& caller, const Webhook& webhook) {
    const bool is_foreign = webhook.forgery == Forgery::wrong_signature;
    Instant sent_at = clock_.now();
    if (webhook.forgery == Forgery::old_timestamp) sent_at -= old_by;
    const WebhookHeaders signature =
        sign_webhook(webhook.id, sent_at, webhook.body, is_foreign ? foreign_secrets_ : secrets_);
    HttpCall call{.method = "POST",
                  .url = url_,
                  .body = webhook.body,
                  .headers = {"Content-Type: application/json"},
                  .connect_max = std::chrono::milliseconds(2'000),
                  .total_max = std::chrono::milliseconds(5'000)};
    for (const std::string& line : signature.lines()) call.headers.push_back(line);
    const auto answer = caller.run(call);
    return answer && answer->status >= 200 && answer->status < 300;
}

void WebhookSender::settle(Delivery delivery, bool is_taken) {
    if (delivery.webhook.forgery != Forgery::none) {
        ++counts_.forged_sent;
        if (!is_taken) return;
        ++counts_.forged_accepted;
        log_error("the merchant took a forged webhook", {{"id", delivery.webhook.id}});
        return;
    }
    if (is_taken) {
        ++counts_.delivered;
        return;
    }
    if (++delivery.tries >= tries_max) {
        ++counts_.given_up;
        log_warn("a webhook is given up", {{"id", delivery.webhook.id}, {"tries", tries_max}});
        return;
    }
    const Uptime due = clock_.uptime() + first_pause * (1 << (delivery.tries - 1));
    put(std::move(delivery), due);
}

}  // namespace doorbuster::sandbox
