#include "store_cluster/cluster_acceptor.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace doorbuster {

namespace {

Verdict verdict_on(const RedisError& error) {
    if (error.outcome_unknown) return Verdict::unknown;
    return error.code == RedisErrc::busy ? Verdict::overloaded : Verdict::rebuilding;
}

}  // namespace

ClusterAcceptor::ClusterAcceptor(const Parts& parts, std::shared_ptr<ClusterBucket> bucket,
                                 std::shared_ptr<ItemBoard> board)
    : parts_(parts),
      bucket_(std::move(bucket)),
      board_(std::move(board)),
      reserver_(parts.loop, parts.redis, bucket_->id(), [of = bucket_] { return of->fence(); }) {}

void ClusterAcceptor::reserve(const ReserveEntry& entry, Answered answered) {
    if (!bucket_->holds()) return answered({Verdict::rebuilding});
    const auto asked = std::make_shared<const Asked>(Asked{entry, std::move(answered)});
    const auto sent = reserver_.reserve(
        entry, [self = shared_from_this(), asked](const RedisResult<ReserveVerdict>& said,
                                                  const Fence& under) { self->decided(asked, said, under); });
    if (!sent) asked->answered({verdict_on(sent.error())});
}

void ClusterAcceptor::decided(const AskedPtr& asked, const RedisResult<ReserveVerdict>& verdict,
                              const Fence& under) {
    if (!verdict) {
        const RedisError& error = verdict.error();
        // What else Redis may have against it, the board's looks tell.
        if (error.code == RedisErrc::fenced) bucket_->doubt(under, Doubt::lost, error.detail);
        return asked->answered({verdict_on(error)});
    }
    const bool is_taken =
        verdict->outcome == ReserveOutcome::accepted || verdict->outcome == ReserveOutcome::repeated;
    if (is_taken && verdict->is_pending) return produce(asked, *verdict);
    if (!bucket_->holds()) return asked->answered({is_taken ? Verdict::unknown : Verdict::rebuilding});
    if (is_taken) return answer_taken(asked, *verdict);
    asked->answered({Verdict::decided, {.outcome = verdict->outcome, .purchase = verdict->holder}});
}

void ClusterAcceptor::produce(const AskedPtr& asked, const ReserveVerdict& verdict) {
    if (!bucket_->holds(verdict.take.epoch)) return asked->answered({Verdict::unknown});
    const auto produced = parts_.records.produce(
        ledger_entry_of(bucket_->id(),
                        {{asked->entry.purchase, asked->entry.buyer, verdict.take}, asked->entry.replaces}),
        [self = shared_from_this(), asked, verdict](const DeliveryReport& report) {
            boost::asio::post(self->parts_.loop, [self, asked, verdict, delivery = report.delivery] {
                self->reported(asked, verdict, delivery);
            });
        });
    // The take stands in the outbox, and goes to Kafka by its repeat or by the sweeper.
    if (!produced) asked->answered({Verdict::unknown});
}

void ClusterAcceptor::reported(const AskedPtr& asked, const ReserveVerdict& verdict, KafkaDelivery delivery) {
    // Behind the end of the lease the record may stand behind the SEAL, and count for nothing.
    if (delivery != KafkaDelivery::durable || !bucket_->holds(verdict.take.epoch)) {
        return asked->answered({Verdict::unknown});
    }
    durable_.push_back({{asked->entry.purchase, verdict.take.sequence}, verdict.take.epoch});
    answer_taken(asked, verdict);
    remove_soon();
}

void ClusterAcceptor::answer_taken(const AskedPtr& asked, const ReserveVerdict& verdict) {
    board_->add_winner(asked->entry.purchase, asked->entry.buyer);
    if (!bucket_->is_news(verdict)) return say_yes(*asked, verdict, false);
    later(news_max, [self = shared_from_this(), asked, verdict] {
        if (!self->bucket_->holds()) return asked->answered({.verdict = Verdict::unknown, .is_news = true});
        self->say_yes(*asked, verdict, true);
    });
}

void ClusterAcceptor::later(milliseconds wait, std::function<void()> what) {
    if (parts_.later) return parts_.later(wait, std::move(what));
    const auto timer = std::make_shared<boost::asio::steady_timer>(parts_.loop, wait);
    timer->async_wait([timer, what = std::move(what)](const boost::system::error_code&) { what(); });
}

void ClusterAcceptor::say_yes(const Asked& asked, const ReserveVerdict& verdict, bool is_news) {
    asked.answered({Verdict::decided,
                    {.outcome = verdict.outcome,
                     .purchase = asked.entry.purchase,
                     .sequence = verdict.take.sequence,
                     .accepted_at = verdict.take.accepted_at,
                     .state = verdict.take.state},
                    is_news});
}

// Behind what the loop has in hand: reports come many at a time.
void ClusterAcceptor::remove_soon() {
    if (is_removing_ || durable_.empty()) return;
    is_removing_ = true;
    boost::asio::post(parts_.loop, [self = shared_from_this()] { self->remove(); });
}

void ClusterAcceptor::remove() {
    const auto fence = bucket_->fence();
    std::vector<TakenAt> takes;
    while (!durable_.empty() && takes.size() < entries_per_call_max) {
        // The outbox of an epoch that is over went with it.
        if (fence && fence->epoch == durable_.back().epoch) takes.push_back(durable_.back().taken);
        durable_.pop_back();
    }
    is_removing_ = false;
    if (takes.empty()) return;
    // Without an answer the entries may still be there: then the sweeper produces them once more, and each
    // becomes one order all the same.
    const auto sent =
        parts_.redis.call(done_call(bucket_->id(), *fence, takes), [self = shared_from_this()](const auto&) {
            self->is_removing_ = false;
            self->remove_soon();
        });
    is_removing_ = sent.has_value();
    if (!sent) durable_.clear();
}

}  // namespace doorbuster
