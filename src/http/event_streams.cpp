#include "http/event_streams.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/check.hpp"
#include "http/replies.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view heartbeat_comment = ": still here\n\n";

// X-Accel-Buffering: nginx would gather events until it has a buffer full of them.
constexpr std::string_view stream_headers = "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n";

// How long a client waits before it comes back. A server that stops must not see all of
// them again in one moment.
constexpr uint64_t retry_ms_min = 1000, retry_ms_max = 3000;

}  // namespace

EventStreams::EventStreams(const Options& options, StreamRoom& room, Probe& probe, Look look)
    : options_(options), room_(room), probe_(probe), look_(std::move(look)), dice_(options.seed) {}

bool EventStreams::open(Exchange& exchange, const Subject& subject, std::optional<uint64_t> last_seen,
                        Uptime now) {
    if (streams_.size() >= options_.streams_max || !room_.take(subject.buyer)) return false;
    const uint64_t number = ++last_number_;
    Stream& stream =
        streams_.try_emplace(number, Stream{.exchange = &exchange, .subject = subject, .seen = last_seen})
            .first->second;
    by_purchase_.emplace(subject.purchase, number);
    count_.store(streams_.size());

    // From its opening, so that those who came in one moment do not stay in step.
    stream.heartbeat_at = now + jittered(options_.heartbeat, 0.5);
    stream.close_at = now + jittered(options_.stream_max, 0.9);
    want_look(number, stream);
    start_looks();
    return true;
}

void EventStreams::want_look(uint64_t number, Stream& stream) {
    if (stream.is_looking) {
        stream.looks_again = true;
        return;
    }
    if (stream.is_queued) return;
    stream.is_queued = true;
    queue_.push_back(number);
}

void EventStreams::start_looks() {
    while (looks_ < looks_max && !queue_.empty()) {
        const uint64_t number = queue_.front();
        Stream& stream = streams_.at(number);
        const bool has_begun = look_(number, stream.subject);
        if (!has_begun && stream.is_open) return;  // others go first; the next tick tries again
        queue_.pop_front();
        stream.is_queued = false;
        if (!has_begun) {
            refuse(number, stream, {Code::overloaded});
            continue;
        }
        stream.is_looking = true;
        ++looks_;
    }
}

void EventStreams::looked(uint64_t number, const LookedUp& outcome) {
    CHECK(looks_ > 0);
    --looks_;
    if (const auto found = streams_.find(number); found != streams_.end()) {
        Stream& stream = found->second;
        stream.is_looking = false;
        if (std::exchange(stream.looks_again, false)) want_look(number, stream);
        const auto* snapshot = std::get_if<PurchaseSnapshot>(&outcome);
        if (stream.is_open) {
            go_on(number, stream, outcome);
        } else if (snapshot != nullptr) {
            begin(number, stream, *snapshot);
        } else {
            refuse(number, stream, std::get<Problem>(outcome));
        }
    }
    start_looks();
}

void EventStreams::begin(uint64_t number, Stream& stream, const PurchaseSnapshot& snapshot) {
    const bool is_news = stream.seen != snapshot.version;
    if (!is_news && snapshot.is_final) {
        // To the client of an event stream this, and no other answer, means: do not come back.
        probe_.answered(204);
        stream.exchange->answer({.status = 204, .headers = no_store});
        return remove(number);
    }
    probe_.answered(200);
    stream.is_open = stream.exchange->begin_stream(
        {.content_type = "text/event-stream", .headers = stream_headers}, *this, number);
    if (!stream.is_open) return remove(number);

    std::string first =
        fmt::format("retry: {}\n\n", retry_ms_min + dice_.below(retry_ms_max - retry_ms_min + 1));
    if (is_news) first += snapshot.event;
    stream.seen = snapshot.version;
    stream.exchange->send_piece(first);
    if (snapshot.is_final) end(number, stream);
}

void EventStreams::go_on(uint64_t number, Stream& stream, const LookedUp& outcome) {
    if (const auto* problem = std::get_if<Problem>(&outcome)) {
        // A store that fails now may answer at the next heartbeat.
        if (problem->code == Code::not_found) end(number, stream);
        return;
    }
    const auto& snapshot = std::get<PurchaseSnapshot>(outcome);
    // Looks of one stream follow each other, so what differs is newer.
    if (snapshot.version != stream.seen) {
        stream.seen = snapshot.version;
        stream.exchange->send_piece(snapshot.event);
    }
    if (snapshot.is_final) end(number, stream);
}

void EventStreams::purchases_changed(std::span<const PurchaseId> purchases) {
    for (const PurchaseId& purchase : purchases) {
        const auto [first, last] = by_purchase_.equal_range(purchase);
        for (auto follower = first; follower != last; ++follower) {
            want_look(follower->second, streams_.at(follower->second));
        }
    }
    start_looks();
}

void EventStreams::anything_changed() {
    for (auto& [number, stream] : streams_) want_look(number, stream);
    start_looks();
}

void EventStreams::tick(Uptime now) {
    if (streams_.empty() || now < scan_at_) return;
    scan_at_ = now + scan_every;
    std::vector<uint64_t> over;
    for (auto& [number, stream] : streams_) {
        if (!stream.is_open) continue;
        if (now >= stream.close_at) {
            over.push_back(number);
        } else if (now >= stream.heartbeat_at) {
            stream.heartbeat_at = now + jittered(options_.heartbeat, 0.8);
            // Who lags has enough to read, and a comment must not take a snapshot's place.
            if (!stream.exchange->lags()) stream.exchange->send_piece(heartbeat_comment);
            want_look(number, stream);
        }
    }
    for (const uint64_t number : over) end(number, streams_.at(number));
    start_looks();
}

void EventStreams::refuse(uint64_t number, const Stream& stream, const Problem& problem) {
    probe_.answered(status_of(problem.code));
    if (problem.detail.empty()) {
        stream.exchange->refuse(problem.code);  // the same bytes as everywhere else
    } else {
        stream.exchange->refuse(problem);
    }
    remove(number);
}

void EventStreams::end(uint64_t number, const Stream& stream) {
    stream.exchange->end_stream();
    remove(number);
}

void EventStreams::stream_ended(uint64_t number) {
    remove(number);
}

void EventStreams::remove(uint64_t number) {
    const auto found = streams_.find(number);
    CHECK(found != streams_.end());
    const Stream& stream = found->second;
    if (stream.is_queued) std::erase(queue_, number);
    const auto [first, last] = by_purchase_.equal_range(stream.subject.purchase);
    for (auto follower = first; follower != last; ++follower) {
        if (follower->second != number) continue;
        by_purchase_.erase(follower);
        break;
    }
    room_.give_back(stream.subject.buyer);
    streams_.erase(found);
    count_.store(streams_.size());
}

Uptime EventStreams::jittered(Uptime at_most, double least) {
    return Uptime(static_cast<int64_t>(static_cast<double>(at_most.count()) * dice_.between(least, 1.0)));
}

}  // namespace doorbuster
