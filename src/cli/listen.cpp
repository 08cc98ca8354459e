#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/percent.hpp"
#include "base/standard_webhooks.hpp"
#include "base/wakeup.hpp"
#include "cli/admin_desk.hpp"
#include "cli/answer_text.hpp"
#include "outbound/http_caller.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

constexpr std::chrono::seconds ask_every{1};
constexpr int events_per_ask = 100;

struct ListenWords {
    AdminFlags admin;
    std::string forward_to, after = "newest";
};

// Ctrl-C, or SIGTERM: ends the wait and the call under way. The signals stay blocked for the
// rest of the process, so that none can fall between two waits.
class Interrupt {
public:
    explicit Interrupt(HttpCaller& caller) : caller_(caller) {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        thread_ = std::thread([this] { watch(); });
    }
    ~Interrupt() {
        is_over_ = true;
        thread_.join();
    }

    // True when it is time to end, at once or after the wait.
    bool came_within(std::chrono::milliseconds wait) {
        if (!came_) wakeup_.sleep(wait);
        return came_;
    }
    bool came() const { return came_; }

private:
    void watch() {
        const timespec look{.tv_sec = 0, .tv_nsec = 100'000'000};
        while (!is_over_ && !came_) {
            if (sigtimedwait(&signals_, nullptr, &look) < 0) continue;
            came_ = true;
            caller_.cancel();
            wakeup_.wake();
        }
    }

    HttpCaller& caller_;
    sigset_t signals_{};
    Wakeup wakeup_;
    std::atomic<bool> came_{false}, is_over_{false};
    std::thread thread_;
};

// What came of forwarding one event.
struct Forwarded {
    long status = 0;
    std::string error;
    int64_t duration_ms = 0;
};

class Forwarder {
public:
    Forwarder(std::string url, std::vector<WebhookSecret> secrets)
        : url_(std::move(url)), secrets_(std::move(secrets)) {}

    HttpCaller& caller() { return caller_; }

    std::optional<Forwarded> forward(std::string_view id, const std::string& body) {
        if (url_.empty()) return std::nullopt;
        HttpCall call{
            .method = "POST", .url = url_, .body = body, .headers = {"Content-Type: application/json"}};
        for (std::string& line : sign_webhook(id, clock_.now(), body, secrets_).lines()) {
            call.headers.push_back(std::move(line));
        }
        const Uptime began = clock_.uptime();
        const auto answer = caller_.run(call);
        Forwarded done;
        done.duration_ms = std::chrono::round<milliseconds>(clock_.uptime() - began).count();
        if (answer) {
            done.status = answer->status;
        } else {
            done.error = answer.error();
        }
        return done;
    }

private:
    const std::string url_;
    const std::vector<WebhookSecret> secrets_;
    MonotonicClock clock_;
    HttpCaller caller_;
};

// "2026-12-01T12:00:03.250Z  evt_17  order.paid  7001 alice paid  -> 200 in 12 ms"
std::string event_line(const json::object& event, const std::optional<Forwarded>& done) {
    static const json::object none;
    const json::value* found = event.if_contains("payload");
    const json::object& payload = found != nullptr && found->is_object() ? found->get_object() : none;
    found = payload.if_contains("data");
    const json::object& data = found != nullptr && found->is_object() ? found->get_object() : none;
    std::string line = answer_text(payload, "timestamp") + "  " + answer_text(event, "id") + "  " +
                       answer_text(payload, "type") + "  " + answer_text(data, "id");
    if (data.contains("buyer")) line += ' ' + answer_text(data, "buyer");
    line += ' ' + answer_text(data, "state");
    if (!done) return line;
    if (done->status == 0) return line + "  -> " + printable(done->error);
    return line + "  -> " + std::to_string(done->status) + " in " + std::to_string(done->duration_ms) + " ms";
}

std::string event_as_json(json::object event, const std::optional<Forwarded>& done) {
    if (done) {
        json::object forwarded{{"status", nullptr}, {"error", nullptr}, {"duration_ms", done->duration_ms}};
        if (done->status != 0) forwarded["status"] = done->status;
        if (!done->error.empty()) forwarded["error"] = printable(done->error);
        event["forwarded"] = std::move(forwarded);
    }
    return json::serialize(event);
}

// The configured ones, so that the receiver need not know who sends; else one for this run.
std::optional<std::vector<WebhookSecret>> secrets_for(CliRun& run, int& code) {
    const LoadedConfig loaded = load_for(run, Role::client);
    code = loaded.exit_code;
    if (!loaded.config) return std::nullopt;
    std::vector<std::string> texts = parts_of(loaded.config->webhooks.secrets.value());
    if (texts.empty()) {
        texts.push_back(WebhookSecret::generate());
        run.world.err << "signing with a secret for this run: " << texts.front() << std::endl;
    }
    std::vector<WebhookSecret> secrets;
    for (const std::string& text : texts) {
        auto secret = WebhookSecret::parse(text);
        if (secret) secrets.push_back(*std::move(secret));  // judged with the configuration
    }
    return secrets;
}

class Listening {
public:
    Listening(CliRun& run, const ListenWords& words, std::vector<WebhookSecret> secrets)
        : run_(run),
          desk_(run, words.admin),
          forwarder_(words.forward_to, std::move(secrets)),
          interrupt_(forwarder_.caller()),
          after_(words.after) {}

    int run() {
        bool is_first = true;
        for (;;) {
            const auto shown = show_page();
            if (!shown) return desk_.code();
            if (is_first) run_.world.err << "listening; Ctrl-C ends it" << std::endl;
            is_first = false;
            if (!run_.world.out) return exit_ok;  // whoever read along has left
            if (interrupt_.came_within(*shown == events_per_ask ? std::chrono::milliseconds(0) : ask_every))
                return exit_ok;
        }
    }

private:
    // How many events; nothing if the server could not be asked, which has been told.
    std::optional<int> show_page() {
        const auto answer = desk_.ask({.path = "/v1/events?after=" + percent_encoded(after_) +
                                               "&limit=" + std::to_string(events_per_ask)});
        if (!answer) return std::nullopt;
        boost::system::error_code error;
        const json::value page = json::parse(answer->body, error);
        const json::value* events =
            !error && page.is_object() ? page.get_object().if_contains("events") : nullptr;
        const json::value* next = events != nullptr ? page.get_object().if_contains("next") : nullptr;
        if (next == nullptr || !events->is_array() || !next->is_string()) {
            run_.fail("the server's answer is no list of events: is it a Doorbuster?");
            return std::nullopt;
        }
        int shown = 0;
        for (const json::value& event : events->get_array()) {
            if (interrupt_.came() || !event.is_object()) break;
            show(event.get_object());
            ++shown;
        }
        after_ = std::string(next->get_string());
        return shown;
    }

    void show(const json::object& event) {
        const json::value* payload = event.if_contains("payload");
        const std::string body = payload != nullptr ? json::serialize(*payload) : "{}";
        const auto done = forwarder_.forward(answer_text(event, "id"), body);
        if (done && done->status == 0 && interrupt_.came()) return;  // cut off
        run_.print(run_.as_json() ? event_as_json(event, done) : event_line(event, done));
        run_.world.out.flush();
    }

    CliRun& run_;
    AdminDesk desk_;
    Forwarder forwarder_;
    Interrupt interrupt_;
    std::string after_;
};

int listen(CliRun& run, const ListenWords& words) {
    if (!words.forward_to.empty() && url_rule.fault(words.forward_to))
        return run.fail("--forward-to must be an http or https URL", exit_usage);
    int code = exit_ok;
    const auto secrets = words.forward_to.empty() ? std::vector<WebhookSecret>{} : secrets_for(run, code);
    if (!secrets) return code;
    return Listening(run, words, *secrets).run();
}

}  // namespace

void add_listen_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand("listen", "Shows every event as it happens, until Ctrl-C");
    const auto words = std::make_shared<ListenWords>();
    add_admin_flags(*command, run, words->admin);
    command
        ->add_option("--forward-to", words->forward_to,
                     "Also sends each there as a webhook, signed with webhooks.secrets, and shows the answer")
        ->option_text("URL");
    command->add_option("--after", words->after, "Begins behind this event (newest); 0: with the first")
        ->option_text("EVENT");
    command->footer(std::string(admin_footer) +
                    help_footer("  doorbuster listen\n"
                                "  doorbuster listen --forward-to http://127.0.0.1:3000/hooks\n"
                                "  doorbuster listen --after 0 -o json\n"));
    command->callback([&run, words] { run.chosen = [&run, words] { return listen(run, *words); }; });
}

}  // namespace doorbuster
