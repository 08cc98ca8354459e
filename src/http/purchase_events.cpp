#include "http/purchase_events.hpp"

#include "base/crypto.hpp"
#include "http/route.hpp"

namespace doorbuster {

namespace {

// Half of a gate's connections at most: whoever buys must still get in.
size_t streams_of_gate_max(const Gate& gate) {
    return gate.connections_max() / 2;
}

}  // namespace

PurchaseEvents::PurchaseEvents(Services& services, const EventTerms& terms, Gate& gate, Replies& replies,
                               Probe& probe, Door& door, NegativeCache& not_found)
    : services_(services),
      gate_(gate),
      replies_(replies),
      door_(door),
      not_found_(not_found),
      streams_({.stream_max = terms.stream_max,
                .heartbeat = terms.heartbeat,
                .streams_max = streams_of_gate_max(gate),
                .seed = random_seed()},
               terms.room, probe, [this](uint64_t stream, const EventStreams::Subject& subject) {
                   return look(stream, subject);
               }) {}

void PurchaseEvents::follow(Exchange& exchange, std::string_view purchase) {
    const auto who = door_.who(exchange, services_.clock.now());
    if (!who) return;
    const auto id = PurchaseId::from_hex(purchase);
    if (!id) return replies_.refuse(exchange, Code::not_found);
    const Uptime now = services_.clock.uptime();
    if (not_found_.is_missing(not_found_.question(*id, who->buyer), now)) {
        return replies_.refuse(exchange, Code::not_found);
    }
    // What no event of ours can have had as its id is as good as none.
    const auto last_seen = parse_number<uint64_t>(exchange.request().last_event_id);
    if (!streams_.open(exchange, {*id, who->buyer}, last_seen, now)) {
        replies_.refuse(exchange, Code::overloaded);
    }
}

bool PurchaseEvents::look(uint64_t stream, const EventStreams::Subject& subject) {
    const auto question = not_found_.question(subject.purchase, subject.buyer);
    return services_.lookups.run([this, stream, subject, question](Lookups::Readers& readers) {
        gate_.post(
            [this, stream, question, outcome = look_up_snapshot(readers, subject.purchase, subject.buyer)] {
                const auto* problem = std::get_if<Problem>(&outcome);
                if (problem != nullptr && problem->code == Code::not_found) {
                    not_found_.remember(question, services_.clock.uptime());
                }
                streams_.looked(stream, outcome);
            });
    });
}

void PurchaseEvents::purchases_changed(std::span<const PurchaseId> purchases) {
    if (streams_.is_empty()) return;
    if (changed_.put(purchases)) gate_.post([this] { take_changed(); });
}

void PurchaseEvents::take_changed() {
    if (changed_.take(taken_)) {
        streams_.purchases_changed(taken_);
    } else {
        streams_.anything_changed();
    }
}

}  // namespace doorbuster
