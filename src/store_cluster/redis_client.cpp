#include "store_cluster/redis_client.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace doorbuster {

RedisClient::RedisClient(boost::asio::io_context& context, const Options& options)
    : context_(context), options_(options), random_(options.seed) {
    CHECK(options.connections >= 1);
    places_.reserve(options.connections);
    for (size_t i = 0; i < options.connections; ++i) {
        places_.push_back({nullptr, boost::asio::steady_timer(context), options.redial_min});
        dial(places_.back());
    }
}

RedisClient::~RedisClient() {
    for (Place& place : places_) {
        place.redial.cancel();
        if (place.link) place.link->end();
    }
}

RedisResult<void> RedisClient::call(const RedisCall& words, RedisAnswered answered) {
    RedisLink* least = nullptr;
    for (const Place& place : places_) {
        if (!place.link || !place.link->is_up()) continue;
        if (least == nullptr || place.link->calls_under_way() < least->calls_under_way())
            least = place.link.get();
    }
    if (least == nullptr) return RedisError{RedisErrc::unreachable, "no connection to Redis"};
    if (least->calls_under_way() >= options_.calls_per_connection_max)
        return RedisError{RedisErrc::busy, "too many calls to Redis are under way"};
    least->send(words, std::move(answered));
    return {};
}

size_t RedisClient::connections_up() const {
    return static_cast<size_t>(std::count_if(places_.begin(), places_.end(), [](const Place& place) {
        return place.link && place.link->is_up();
    }));
}

void RedisClient::link_up(RedisLink& link) {
    place_of(link).wait_max = options_.redial_min;
}

void RedisClient::link_down(RedisLink& link) {
    Place& place = place_of(link);
    place.link = nullptr;
    const auto most = place.wait_max.count();
    place.wait_max = std::min(2 * place.wait_max, options_.redial_max);
    place.redial.expires_after(
        std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(most / 2, most)(random_)));
    place.redial.async_wait([this, &place](const boost::system::error_code& error) {
        if (!error) dial(place);
    });
}

void RedisClient::dial(Place& place) {
    place.link = RedisLink::open(context_, options_.link, *this);
}

RedisClient::Place& RedisClient::place_of(const RedisLink& link) {
    const auto place = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place& one) { return one.link.get() == &link; });
    CHECK(place != places_.end());
    return *place;
}

}  // namespace doorbuster
