#include "store_cluster/cluster_words.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace doorbuster {

void ClusterWords::tell(const BookWord& word, std::function<void()> applied) {
    if (!has_word_ || word.version >= word_.version) word_ = word;
    has_word_ = true;
    if (applied) waiting_.push_back({std::move(applied), pg::boot_time() + wait_max_});
    turn();
}

void ClusterWords::paid(const PurchaseId& purchase) {
    if (paid_.size() < paid_max) paid_.push_back(purchase);
    tell_paid();
}

void ClusterWords::turn() {
    tell_word();
    tell_paid();
    answer_overdue();
}

void ClusterWords::close() {
    has_word_ = false;
    paid_.clear();
    answer_all();
}

void ClusterWords::tell_word() {
    const auto fence = bucket_->fence();
    if (!has_word_ || is_telling_ || !bucket_->lease_holds()) return;
    if (!fence) return answer_all();  // nobody sells it; the next epoch is loaded from the row
    if (told_epoch_ == fence->epoch && told_version_ >= word_.version) return see();
    const auto sent = redis_.call(set_state_call(bucket_->id(), *fence, word_),
                                  [self = shared_from_this(), version = word_.version,
                                   epoch = fence->epoch](const RedisResult<const redisReply*>& reply) {
                                      self->is_telling_ = false;
                                      const auto said =
                                          reply ? read_number(**reply) : RedisResult<int64_t>(reply.error());
                                      if (!self->has_word_) return;  // closed meanwhile
                                      if (!said) return;             // the next turn says it again
                                      self->told_version_ = version;
                                      self->told_epoch_ = epoch;
                                      self->tell_word();
                                  });
    is_telling_ = sent.has_value();
}

// Behind the winners of before: when the gates show a pause, those still pass.
void ClusterWords::see() {
    if (waiting_.empty() || is_seeing_) return;
    is_seeing_ = true;
    board_->look_then([self = shared_from_this(), version = told_version_] {
        self->is_seeing_ = false;
        if (version >= self->word_.version) return self->answer_all();
        self->tell_word();
    });
}

void ClusterWords::tell_paid() {
    const auto fence = bucket_->fence();
    if (paid_.empty() || is_telling_paid_ || !bucket_->lease_holds()) return;
    if (!fence) return paid_.clear();  // the next epoch is loaded with them
    const size_t rest = paid_.size() - std::min(paid_.size(), entries_per_call_max);
    const std::vector<PurchaseId> some(paid_.begin() + static_cast<std::ptrdiff_t>(rest), paid_.end());
    const auto sent = redis_.call(sell_call(bucket_->id(), *fence, some),
                                  [self = shared_from_this(), some](const auto& reply) {
                                      self->is_telling_paid_ = false;
                                      if (reply) return self->tell_paid();
                                      // Perhaps they are told already: once more does no harm.
                                      self->paid_.insert(self->paid_.end(), some.begin(), some.end());
                                  });
    is_telling_paid_ = sent.has_value();
    if (sent) paid_.resize(rest);
}

void ClusterWords::answer_all() {
    for (const Waiting& one : std::exchange(waiting_, {})) one.applied();
}

void ClusterWords::answer_overdue() {
    const pg::BootTime now = pg::boot_time();
    if (std::ranges::none_of(waiting_, [&](const Waiting& one) { return now >= one.until; })) return;
    log_warn("Redis has not heard the operator's word yet; it is told as soon as it answers",
             {{"sale", bucket_->id().sale.view()}, {"item", bucket_->id().item.view()}});
    answer_all();
}

}  // namespace doorbuster
