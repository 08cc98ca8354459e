#include "server/key_keeper.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "config/text_file.hpp"
#include "funnel/jwks.hpp"

namespace doorbuster {

namespace {

constexpr auto failed = boost::system::in_place_error;

int64_t ns_of(const timespec& at) {
    return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

}  // namespace

KeyKeeper::KeyKeeper(KeySources sources, KeyRing own, Fetch fetch, uint64_t jitter_seed)
    : sources_(std::move(sources)),
      own_(std::move(own)),
      fetch_(std::move(fetch)),
      random_(static_cast<std::minstd_rand::result_type>(jitter_seed)),
      keys_(std::make_shared<const KeyRing>(own_)) {}

Result<KeyKeeper::Look, std::string> KeyKeeper::load(Uptime now) {
    Look first;
    look_at_file(first);
    if (!sources_.file.empty() && !file_.outcome->empty()) {
        return Result<Look, std::string>(failed, *file_.outcome);
    }
    look_at_url(first, now);
    return first;
}

KeyKeeper::Look KeyKeeper::look(Uptime now) {
    Look result;
    look_at_file(result);
    if (now >= fetch_at_) look_at_url(result, now);
    return result;
}

void KeyKeeper::look_at_file(Look& look) {
    if (sources_.file.empty()) return;
    struct stat status;
    if (::stat(sources_.file.c_str(), &status) != 0) {
        file_seen_.reset();
        take(file_, url_, Text(failed, std::strerror(errno)), look);
        return;
    }
    const Stamp stamp{.inode = status.st_ino,
                      .size_bytes = status.st_size,
                      .modified_ns = ns_of(status.st_mtim),
                      .changed_ns = ns_of(status.st_ctim)};
    if (file_seen_ == stamp) return;
    // Taken before the reading, so that a change during it is seen the next time. What could
    // not be used is read again each time: it may have been half written.
    const bool is_taken = take(file_, url_, read_text_file(sources_.file, jwks_bytes_max), look);
    file_seen_ = is_taken ? std::optional(stamp) : std::nullopt;
}

void KeyKeeper::look_at_url(Look& look, Uptime now) {
    if (sources_.url.empty()) return;
    if (take(url_, file_, fetch_(sources_.url), look)) {
        retry_after_ = retry_first;
        fetch_at_ = now + spread(sources_.refresh, 0.1);
        return;
    }
    const Uptime wait = std::min<Uptime>(retry_after_, sources_.refresh);
    fetch_at_ = now + spread(wait, 0.5);
    retry_after_ = std::min<Uptime>(2 * retry_after_, sources_.refresh);
}

bool KeyKeeper::take(Source& source, const Source& other, const Text& text, Look& look) {
    const auto tell = [&](std::string error) {
        source.outcome = error;
        look.news.push_back(
            {.source = source.name, .error = std::move(error), .keys = source.ring.keys().size()});
    };
    const auto refuse = [&](const std::string& error) {
        if (source.outcome != error) tell(error);
        return false;
    };
    if (!text) return refuse(text.error());
    const Digest digest = sha256(*text);
    if (digest == source.digest) {
        if (source.outcome != "") tell("");
        return true;
    }
    auto ring = parse_jwks(*text);
    if (!ring) return refuse(ring.error());
    auto own_and_these = own_.joined_with(*ring);
    if (!own_and_these) return refuse(own_and_these.error());
    auto all = own_and_these->joined_with(other.ring);
    if (!all) return refuse(all.error());
    source.ring = *std::move(ring);
    source.digest = digest;
    keys_ = std::make_shared<const KeyRing>(*std::move(all));
    look.changed = keys_;
    tell("");
    return true;
}

// Somewhat less, so that servers that were started together do not ask together.
Uptime KeyKeeper::spread(Uptime at_most, double part) {
    const double less = part * std::uniform_real_distribution<>(0, 1)(random_);
    return std::chrono::duration_cast<Uptime>(at_most * (1 - less));
}

}  // namespace doorbuster
