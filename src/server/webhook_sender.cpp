#include "server/webhook_sender.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/threads.hpp"
#include "config/rules.hpp"

namespace doorbuster {

namespace {

constexpr size_t answer_bytes_max = 64 * 1024;  // nobody reads it; more is a receiver gone wrong
constexpr size_t error_bytes_max = 200;

HttpCall call_for(const Notifier::Message& message, const WebhookTarget& target, Instant now) {
    HttpCall call{.method = "POST",
                  .url = target.url,
                  .body = message.body,
                  .headers = {"Content-Type: application/json", "User-Agent: doorbuster"},
                  .connect_max = std::min<milliseconds>(target.timeout, milliseconds(3'000)),
                  .total_max = target.timeout,
                  .answer_bytes_max = answer_bytes_max,
                  .redirects_max = 0,  // a redirect would take the buyer's data where nobody configured
                  .private_addresses_allowed = target.private_addresses_allowed,
                  .environment_proxy_allowed = false};
    for (std::string& line : sign_webhook(message.id, now, message.body, target.secrets).lines()) {
        call.headers.push_back(std::move(line));
    }
    return call;
}

}  // namespace

WebhookTarget WebhookTarget::of(const WebhooksOptions& options) {
    WebhookTarget target{.url = options.url,
                         .secrets = {},
                         .private_addresses_allowed = options.allow_private,
                         .timeout = milliseconds(options.timeout_ms.value())};
    for (const std::string& text : parts_of(options.secrets.value())) {
        auto secret = WebhookSecret::parse(text);
        CHECK(secret);  // judged with the configuration
        target.secrets.push_back(*std::move(secret));
    }
    CHECK(target.url.empty() || !target.secrets.empty());
    return target;
}

WebhookSender::WebhookSender(Outbox& outbox, OrdersReader& reader, Clock& clock, const Options& options,
                             std::function<void()> wake)
    : clock_(clock),
      wake_(std::move(wake)),
      notifier_(outbox, reader, options.seed, {.in_flight_max = options.in_flight_max},
                [this](Notifier::Message message) {
                    std::lock_guard lock(mutex_);
                    messages_.push_back(std::move(message));
                    waiting_.notify_one();
                }) {
    for (size_t i = 0; i < options.in_flight_max; ++i) callers_.push_back(std::make_unique<HttpCaller>());
}

WebhookSender::~WebhookSender() {
    stop();
}

void WebhookSender::set_target(WebhookTarget target) {
    {
        std::lock_guard lock(mutex_);
        target_ = std::make_shared<const WebhookTarget>(std::move(target));
    }
    wake_();
}

void WebhookSender::start() {
    for (const auto& caller : callers_) {
        threads_.emplace_back([this, at = caller.get()] {
            set_thread_up("webhooks", -1);
            work(*at);
        });
    }
}

void WebhookSender::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    waiting_.notify_all();
    for (const auto& caller : callers_) caller->cancel();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void WebhookSender::work(HttpCaller& caller) {
    for (;;) {
        Notifier::Message message;
        std::shared_ptr<const WebhookTarget> target;
        {
            std::unique_lock lock(mutex_);
            waiting_.wait(lock, [&] { return stopping_ || !messages_.empty(); });
            if (stopping_) return;
            message = std::move(messages_.front());
            messages_.pop_front();
            target = target_;
        }
        Notifier::Answer answer{
            .event = message.event, .at = clock_.now(), .status = 0, .error = {}, .took = {}};
        const Uptime began = clock_.uptime();
        if (target->url.empty()) {
            answer.error = "webhooks.url was taken out of the configuration";
        } else if (const auto heard = caller.run(call_for(message, *target, answer.at))) {
            answer.status = static_cast<uint32_t>(heard->status);
        } else {
            answer.error = heard.error().substr(0, error_bytes_max);
        }
        answer.took = std::chrono::round<milliseconds>(clock_.uptime() - began);
        {
            std::lock_guard lock(mutex_);
            // Cut off by the stop: perhaps it arrived, perhaps not. It is sent again.
            if (stopping_ && answer.status == 0) return;
            answers_.push_back(std::move(answer));
        }
        wake_();
    }
}

void WebhookSender::take_answers() {
    std::vector<Notifier::Answer> answers;
    bool has_target;
    {
        std::lock_guard lock(mutex_);
        answers.swap(answers_);
        has_target = !target_->url.empty();
    }
    for (Notifier::Answer& answer : answers) notifier_.answered(std::move(answer));
    if (has_target != notifier_.is_delivering()) notifier_.set_delivering(has_target);
}

void WebhookSender::describe(MoneyFigures& into, Instant now) const {
    const Notifier::Figures figures = notifier_.figures();
    into.webhook_backlog = figures.pending;
    into.webhook_oldest_seconds =
        figures.oldest ? std::max(0.0, std::chrono::duration<double>(now - *figures.oldest).count()) : 0;
    into.webhooks_delivered_total = figures.delivered;
    into.webhooks_retried_total = figures.retried;
    into.webhooks_failed_total = figures.failed;
}

StoreResult<bool> WebhookSender::step(Instant now, Uptime uptime) {
    take_answers();
    return notifier_.step(now, uptime);
}

StoreResult<void> WebhookSender::rest(Instant now) {
    take_answers();
    return notifier_.rest(now);
}

StoreResult<void> WebhookSender::finish(Instant now) {
    take_answers();
    return notifier_.flush(now);
}

}  // namespace doorbuster
