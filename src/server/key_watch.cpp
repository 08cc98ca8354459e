#include "server/key_watch.hpp"

#include "base/crypto.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"

namespace doorbuster {

namespace {

void tell(const std::vector<KeyKeeper::News>& news) {
    for (const KeyKeeper::News& one : news) {
        if (one.error.empty()) {
            log_info("identity keys read", {{"source", one.source}, {"keys", one.keys}});
        } else {
            log_warn("identity keys cannot be read, the old ones stay",
                     {{"source", one.source}, {"error", one.error}, {"keys", one.keys}});
        }
    }
}

}  // namespace

KeyWatch::KeyWatch(KeySources sources, KeyRing own, Clock& clock, Changed changed)
    : has_sources_(!sources.file.empty() || !sources.url.empty()),
      clock_(clock),
      changed_(std::move(changed)),
      keeper_(
          std::move(sources), std::move(own), [this](const std::string& url) { return fetch_.fetch(url); },
          random_seed()) {}

KeyWatch::~KeyWatch() {
    stop();
}

Result<std::shared_ptr<const KeyRing>, std::string> KeyWatch::load() {
    const auto first = keeper_.load(clock_.uptime());
    if (!first) {
        return Result<std::shared_ptr<const KeyRing>, std::string>(boost::system::in_place_error,
                                                                   first.error());
    }
    tell(first->news);
    return keeper_.keys();
}

void KeyWatch::start() {
    if (has_sources_) thread_ = std::thread([this] { run(); });
}

void KeyWatch::stop() {
    stopping_ = true;
    fetch_.cancel();
    wakeup_.wake();
    if (thread_.joinable()) thread_.join();
}

void KeyWatch::run() {
    set_thread_up("keys", -1);
    while (!stopping_) {
        wakeup_.sleep(look_every);
        if (stopping_) return;
        const KeyKeeper::Look look = keeper_.look(clock_.uptime());
        // A fetch that the end cut short is no news.
        if (stopping_) return;
        tell(look.news);
        if (look.changed) changed_(look.changed);
    }
}

}  // namespace doorbuster
