#include "http/connections.hpp"

#include "base/check.hpp"

namespace doorbuster {

namespace {

// How long a client may keep us waiting while a newcomer wants its place; by Keeping. A request may be on
// its way for a moment, a client that goes on asking may think, part of a request may have been lost and be
// sent again. An idle one has no longer than half a request: else that one would go first after all.
constexpr std::array<std::chrono::seconds, keepings> graces{std::chrono::seconds(1), std::chrono::seconds(1),
                                                            std::chrono::seconds(2), std::chrono::seconds(2),
                                                            std::chrono::seconds(5)};

std::chrono::sys_seconds wall_clock() {
    return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

Connections::Connections(Gate& gate, EventLoop& loop, const GateOptions& options,
                         std::function<void()> on_room)
    : gate_(gate),
      loop_(loop),
      options_(std::make_shared<const GateOptions>(options)),
      on_room_(std::move(on_room)),
      now_(std::chrono::steady_clock::now()) {
    date_.set(wall_clock());
    prepare_refusals();
}

bool Connections::add(Descriptor socket, const Address& peer) {
    auto connection = std::make_unique<Connection>(*this, std::move(socket), peer);
    if (!connection->begin()) return false;
    connection->index = open_.size();
    open_.push_back(std::move(connection));
    opened_.add();
    return true;
}

void Connections::tick(Connection::Time now) {
    now_ = now;
    date_.set(wall_clock());
    // Backwards: one that goes leaves its place to the last, which has been looked at.
    for (size_t i = open_.size(); i-- > 0;) open_[i]->tick(now_);
    if (!has_room() && first_to_go() != nullptr) on_room_();
}

void Connections::set_options(GateOptions options) {
    options.connections_max = options_->connections_max;
    options_ = std::make_shared<const GateOptions>(std::move(options));
}

void Connections::keeps_waiting(Connection& connection, Keeping how) {
    connection.keeping_since = now_;
    keeping_[static_cast<size_t>(how)].push_back(connection);
}

Connection* Connections::first_to_go() {
    for (size_t how = 0; how < keepings; ++how) {
        if (keeping_[how].empty()) continue;
        Connection& longest = keeping_[how].front();
        if (now_ - longest.keeping_since >= graces[how]) return &longest;
    }
    return nullptr;
}

bool Connections::make_room() {
    // Bounded: each turn takes one out of its list; who comes back at once has a grace before it.
    while (Connection* connection = first_to_go()) {
        connection->keeping_hook.unlink();
        if (connection->give_way()) {
            idle_closed_.add();
            return true;
        }
    }
    return false;
}

void Connections::drain(std::function<void()> drained) {
    CHECK(!is_draining_);
    is_draining_ = true;
    drained_ = std::move(drained);
    resume_all();  // who was answered in this turn is idle then, and goes with the others
    for (size_t i = open_.size(); i-- > 0;) open_[i]->begin_drain();
    announce_drained();
}

void Connections::resume_later(Connection& connection) {
    if (!is_gathering_ && to_resume_.empty()) {
        loop_.post([this] { resume_all(); });
    }
    to_resume_.push_back(&connection);
}

void Connections::resume_all() {
    is_gathering_ = true;
    while (!to_resume_.empty()) {
        resuming_.swap(to_resume_);
        for (Connection* connection : resuming_) connection->resume();
        resuming_.clear();
    }
    is_gathering_ = false;
}

void Connections::lingering(Connection&) {
    ++lingering_;
    announce_drained();
}

void Connections::remove(Connection& connection) {
    if (connection.lingers()) --lingering_;
    const size_t index = connection.index;
    CHECK(open_[index].get() == &connection);
    std::swap(open_[index], open_.back());
    open_[index]->index = index;
    open_.pop_back();
    closed_.add();
    announce_drained();
    on_room_();
}

void Connections::announce_drained() {
    if (!drained_ || open_.size() != lingering_) return;
    loop_.post(std::exchange(drained_, nullptr));
}

GateFigures Connections::figures() const {
    const uint64_t closed = closed_.value();  // first, so that there are never more closed than opened
    return {.connections_open = opened_.value() - closed,
            .connections_total = opened_.value(),
            .requests_total = requests_.value(),
            .deadline_closed_total = deadline_closed_.value(),
            .malformed_total = malformed_.value(),
            .accept_pauses_total = accept_pauses_.value(),
            .idle_closed_total = idle_closed_.value()};
}

}  // namespace doorbuster
