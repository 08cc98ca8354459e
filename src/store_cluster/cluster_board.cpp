#include "store_cluster/cluster_board.hpp"

#include <algorithm>
#include <utility>

namespace doorbuster {

namespace {

int64_t boot_time_ns() {
    return pg::boot_time().count();
}

}  // namespace

bool ClusterBoard::look() {
    if (is_closed_) return false;
    const pg::BootTime now = pg::boot_time();
    const auto fence = bucket_->fence();
    if (!fence) board_->show_flags({});
    if (!fence || is_looking_) return false;
    looked_at_ = now;
    fence_ = *fence;
    seen_.swap(seen_next_);
    const auto sent = redis_.call(peek_call(bucket_->id()),
                                  [self = shared_from_this()](const auto& reply) { self->looked(reply); });
    is_looking_ = sent.has_value();
    if (!sent) fail(sent.error());
    return is_looking_;
}

void ClusterBoard::look_then(std::function<void()> seen) {
    seen_next_.push_back(std::move(seen));
    look();
}

void ClusterBoard::close() {
    is_closed_ = true;
    seen_.clear();
    seen_next_.clear();
}

void ClusterBoard::looked(const RedisResult<const redisReply*>& reply) {
    if (!reply) return fail(reply.error());
    const auto peek = read_peek(**reply);
    if (!peek) return fail(peek.error());
    if (peek->pin != fence_.pin || !peek->book || peek->book->epoch != fence_.epoch)
        return fail({RedisErrc::fenced, "it is not the Redis that was pinned, or not its book"});
    there_ = *peek->book;
    bucket_->saw(there_);
    if (epoch_ != fence_.epoch) {
        epoch_ = fence_.epoch;
        known_ = 0;
    }
    read_winners();
}

void ClusterBoard::read_winners() {
    const uint64_t last = there_.purchases_known;
    if (known_ >= last) return show();
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(last - known_, winners_per_call_max));
    const auto sent =
        redis_.call(winners_call(bucket_->id(), fence_, known_, count),
                    [self = shared_from_this()](const auto& reply) { self->winners_came(reply); });
    if (!sent) fail(sent.error());
}

void ClusterBoard::winners_came(const RedisResult<const redisReply*>& reply) {
    if (!reply) return fail(reply.error());
    const auto winners = doorbuster::read_winners(**reply);
    if (!winners) return fail(winners.error());
    if (winners->empty()) return fail({RedisErrc::garbled, "the book does not know whom it knows"});
    for (const Winner& winner : *winners) board_->add_winner(winner.purchase, winner.buyer);
    known_ += winners->size();
    read_winners();
}

void ClusterBoard::show() {
    is_looking_ = false;
    if (is_closed_) return;
    const BookFigures& figures = there_.figures;
    const Book::Terms& terms = there_.word.terms;
    const uint64_t orders_max =
        terms.orders_max != 0 ? terms.orders_max : uint64_t{2} * figures.stock.units_total;
    board_->show_taken(there_.taken_at);
    board_->show_figures(figures.stock);
    const bool holds = bucket_->holds(fence_.epoch);
    board_->show_flags_until(
        {.sold_out = holds && figures.stock.units_available == 0,
         .orders_full = holds && terms.policy == StockPolicy::at_payment && figures.slots_used >= orders_max},
        &boot_time_ns, std::min(looked_at_ + flags_last, bucket_->lease_ends_at()).count());
    for (const auto& seen : std::exchange(seen_, {})) seen();
    if (!seen_next_.empty()) look();
}

void ClusterBoard::fail(const RedisError& error) {
    is_looking_ = false;
    seen_next_.insert(seen_next_.end(), seen_.begin(), seen_.end());
    seen_.clear();
    if (is_closed_) return;
    board_->show_flags({});
    switch (error.code) {
        case RedisErrc::busy:
            return;
        case RedisErrc::unreachable:
        case RedisErrc::late:
        case RedisErrc::refused:  // it is loading, busy with a long call, or does not permit it: its book
                                  // stands
            return bucket_->doubt(fence_, Doubt::silent, error.detail);
        case RedisErrc::fenced:
        case RedisErrc::newer:
        case RedisErrc::missing:
        case RedisErrc::garbled:
            return bucket_->doubt(fence_, Doubt::lost, error.detail);
    }
}

}  // namespace doorbuster
