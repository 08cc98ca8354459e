// The Redis function against the book in C++: the same commands, the same answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>

#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

constexpr uint64_t seed = 20261116;
constexpr size_t commands_min = 100'000;
constexpr size_t outcomes = static_cast<size_t>(ReserveOutcome::sold_out_for_now) + 1;

struct Counts {
    size_t commands = 0;
    std::array<size_t, outcomes> outcome{};
    size_t released = 0, release_again = 0, sold = 0, not_sold = 0, restocked = 0, restock_again = 0;
    size_t words = 0, words_ignored = 0, loads = 0, loads_refused = 0, fenced = 0, done = 0, swept = 0;
    size_t alone = 0, accepted_alone = 0;  // which Redis decides by a way of its own
};

// One item, from its first load on, in both books. Whatever differs is a failure of the test.
class Life {
public:
    Life(RedisSession& redis, std::mt19937_64& random, uint32_t number, Counts& counts)
        : redis_(redis),
          random_(random),
          counts_(counts),
          bucket_{SaleId("life"), ItemId("item-" + std::to_string(number))},
          terms_{.units_per_buyer_max = below(4) + 1,
                 .opens_at = t0,
                 .closes_at = t0 + 60s,
                 .policy = static_cast<StockPolicy>(number % 3),
                 .orders_max = below(2) == 0 ? 0 : below(12) + 4},
          book_(std::make_unique<Book>(terms_, stock_of(below(40) + 6), Phase::selling)) {
        load({.epoch = 2, .word = word(), .stock = book_->stock(), .takes = {}});
    }

    void step() {
        const uint32_t dice = below(100);
        if (dice < 62) return reserve();
        if (dice < 74) return release();
        if (dice < 82) return sell();
        if (dice < 85) return restock();
        if (dice < 91) return say();
        if (dice < 96) return sweep();
        if (dice < 98) return change_epoch();
        be_fenced();
    }

private:
    struct Known {
        BuyerId buyer;
        Take take;
        bool is_pending;
    };

    uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
    static Stock stock_of(uint32_t units) { return {.units_total = units, .units_available = units}; }
    BookWord word() const { return {.version = version_, .phase = phase_, .terms = terms_}; }

    PurchaseId some_purchase() {
        if (order_.empty() || below(5) == 0) return purchase(++ids_);
        return order_[order_.size() - 1 - below(static_cast<uint32_t>(std::min<size_t>(order_.size(), 40)))];
    }

    void load(const BookLoad& with) {
        const auto pin = read_pin(*ask(redis_, load_call(bucket_, with)));
        ASSERT_TRUE(pin) << pin.error().detail;
        fence_ = {*pin, with.epoch};
        ++counts_.loads;
    }

    void compare_figures() {
        const auto peek = read_peek(*ask(redis_, peek_call(bucket_)));
        ASSERT_TRUE(peek && peek->book);
        EXPECT_EQ(peek->book->epoch, fence_.epoch);
        EXPECT_EQ(peek->book->figures.stock, book_->stock());
        EXPECT_EQ(peek->book->figures.slots_used, book_->slots_used());
        EXPECT_EQ(peek->book->figures.sequence_last, book_->sequence_last() - sequence_base_);
        EXPECT_EQ(peek->book->word.version, version_);
        EXPECT_EQ(peek->book->word.phase, phase_);
        const auto pending = std::count_if(takes_.begin(), takes_.end(),
                                           [](const auto& one) { return one.second.is_pending; });
        EXPECT_EQ(peek->book->outbox_entries, static_cast<uint64_t>(pending));
    }

    // Many in one call: those behind see what those before them did.
    void reserve() {
        clock_ += milliseconds(below(3000));
        // Redis' own clock may step back; the book's owner never hands that on.
        const Instant shown = below(4) == 0 ? clock_ - milliseconds(below(20'000)) : clock_;
        last_seen_ = std::max(last_seen_, shown);
        std::vector<ReserveEntry> entries;
        const uint32_t dice = below(4);
        const bool is_alone = dice < 2;
        for (uint32_t i = is_alone ? 1 : below(dice == 2 ? 60 : 8) + 1; i > 0; --i) {
            ReserveEntry entry{.purchase = below(5) == 0 ? some_purchase() : purchase(++ids_),
                               .buyer = BuyerId("buyer-" + std::to_string(below(30))),
                               .units = below(3) == 0 ? below(5) + 1 : 1};
            // Most repeats are honest ones.
            if (const auto known = takes_.find(entry.purchase); known != takes_.end() && below(4) != 0) {
                entry.buyer = known->second.buyer;
                entry.units = known->second.take.units;
            }
            if (below(12) == 0) entry.replaces = some_purchase();
            entries.push_back(entry);
        }
        if (!is_alone && below(4) == 0) entries.push_back(entries.front());
        const auto verdicts =
            read_reserve(*ask(redis_, reserve_call(bucket_, fence_, entries, shown)), entries.size());
        ASSERT_TRUE(verdicts) << verdicts.error().detail;
        for (size_t i = 0; i < entries.size(); ++i) {
            ASSERT_TRUE((*verdicts)[i].has_value());
            compare(entries[i], *(*verdicts)[i]);
        }
        if (entries.size() == 1) {
            ++counts_.alone;
            if (verdicts->front()->outcome == ReserveOutcome::accepted) ++counts_.accepted_alone;
        }
        compare_figures();
    }

    void compare(const ReserveEntry& entry, const ReserveVerdict& said) {
        using enum ReserveOutcome;
        const auto expected = book_->reserve({.purchase = entry.purchase,
                                              .buyer = entry.buyer,
                                              .units = entry.units,
                                              .now = last_seen_,
                                              .window_exempt = entry.replaces.has_value()});
        ++counts_.commands;
        ++counts_.outcome[static_cast<size_t>(expected.outcome)];
        ASSERT_EQ(said.outcome, expected.outcome);
        if (expected.outcome == limit_reached) {
            EXPECT_EQ(said.holder, expected.purchase);
        }
        if (expected.outcome == accepted) {
            const Take take{expected.state, entry.units, fence_.epoch, expected.sequence - sequence_base_,
                            expected.accepted_at};
            EXPECT_EQ(said.take, take);
            EXPECT_TRUE(said.is_pending);
            takes_[entry.purchase] = {entry.buyer, take, true};
            order_.push_back(entry.purchase);
        }
        if (expected.outcome == repeated) {
            const Known& known = takes_.at(entry.purchase);
            EXPECT_EQ(said.take, known.take);
            EXPECT_EQ(said.take.state, expected.state);
            EXPECT_EQ(said.take.accepted_at, expected.accepted_at);
            EXPECT_EQ(said.is_pending, known.is_pending);
        }
    }

    std::vector<PurchaseId> some_purchases() {
        std::vector<PurchaseId> purchases;
        for (uint32_t i = below(6) + 1; i > 0; --i) purchases.push_back(some_purchase());
        return purchases;
    }

    void release() {
        const auto purchases = some_purchases();
        const auto said =
            read_changes(*ask(redis_, release_call(bucket_, fence_, purchases)), purchases.size());
        ASSERT_TRUE(said) << said.error().detail;
        for (size_t i = 0; i < purchases.size(); ++i) {
            const bool is_released = book_->release(purchases[i]);
            EXPECT_EQ((*said)[i], is_released);
            if (is_released) takes_.at(purchases[i]).take.state = HoldState::finished;
            ++counts_.commands;
            ++(is_released ? counts_.released : counts_.release_again);
        }
        compare_figures();
    }

    void sell() {
        const auto purchases = some_purchases();
        const auto said = read_changes(*ask(redis_, sell_call(bucket_, fence_, purchases)), purchases.size());
        ASSERT_TRUE(said) << said.error().detail;
        for (size_t i = 0; i < purchases.size(); ++i) {
            const bool is_sold = book_->sell(purchases[i]);
            EXPECT_EQ((*said)[i], is_sold);
            if (is_sold) takes_.at(purchases[i]).take.state = HoldState::sold;
            ++counts_.commands;
            ++(is_sold ? counts_.sold : counts_.not_sold);
        }
        compare_figures();
    }

    void restock() {
        const bool is_again = rows_ > rows_of_epoch_ && below(3) == 0;
        if (!is_again) ++rows_;
        const uint32_t units = below(4) + 1;
        const auto said =
            read_number(*ask(redis_, restock_call(bucket_, fence_, std::to_string(rows_), units)));
        ASSERT_TRUE(said) << said.error().detail;
        EXPECT_EQ(*said, is_again ? 0 : 1);
        if (!is_again) book_->restock(units);
        ++counts_.commands;
        ++(is_again ? counts_.restock_again : counts_.restocked);
        compare_figures();
    }

    // The operator's word; the clock is set anew as well, or every sale would soon be over.
    void say() {
        const bool is_old = below(4) == 0;
        BookWord next{.version = is_old ? version_ - below(2) : version_ + 1 + below(3), .terms = terms_};
        const uint32_t dice = below(10);
        next.phase = dice < 6   ? Phase::selling
                     : dice < 8 ? Phase::paused
                     : dice < 9 ? Phase::closed
                                : Phase::not_ready;
        const uint32_t window = below(6);  // mostly the middle of it, sometimes before or behind
        next.terms.opens_at = last_seen_ + (window == 0 ? 5s : -5s);
        next.terms.closes_at = last_seen_ + (window == 1 ? -1s : window == 2 ? 10s : 600s);
        next.terms.units_per_buyer_max = below(4) + 1;
        const auto said = read_number(*ask(redis_, set_state_call(bucket_, fence_, next)));
        ASSERT_TRUE(said) << said.error().detail;
        EXPECT_EQ(*said, is_old ? 0 : 1);
        ++counts_.commands;
        ++(is_old ? counts_.words_ignored : counts_.words);
        if (!is_old) {
            version_ = next.version;
            phase_ = next.phase;
            terms_ = next.terms;
            book_->set_terms(terms_);
            book_->set_phase(phase_);
        }
        compare_figures();
    }

    // What waits in the outbox is what was accepted and not done, in order; some of it is done.
    void sweep() {
        std::vector<TakenAt> taken;
        uint64_t after = 0;
        for (const PurchaseId& one : order_) {
            Known& known = takes_.at(one);
            if (!known.is_pending) continue;
            const auto found = read_outbox(*ask(
                redis_, outbox_call(bucket_, fence_, {.after_sequence = after, .count_max = 1}, last_seen_)));
            ASSERT_TRUE(found) << found.error().detail;
            ASSERT_EQ(found->size(), 1u);
            EXPECT_EQ((*found)[0].known.purchase, one);
            EXPECT_EQ((*found)[0].known.buyer, known.buyer);
            EXPECT_EQ((*found)[0].known.take.sequence, known.take.sequence);
            after = known.take.sequence;
            const bool is_wrong = below(6) == 0;  // another's sequence: it stays
            taken.push_back({one, known.take.sequence + (is_wrong ? 1 : 0)});
            if (!is_wrong) known.is_pending = false;
            ++counts_.swept;
            if (taken.size() == 20) break;
        }
        if (taken.empty()) return;
        const auto said = read_number(*ask(redis_, done_call(bucket_, fence_, taken)));
        ASSERT_TRUE(said) << said.error().detail;
        counts_.done += static_cast<size_t>(*said);
        counts_.commands += taken.size();
        compare_figures();
    }

    // The cut: both books anew, from what is known of each purchase.
    void change_epoch() {
        BookLoad cut{.epoch = fence_.epoch + 2, .word = word(), .stock = book_->stock(), .takes = {}};
        auto next = std::make_unique<Book>(terms_, book_->stock(), phase_);
        for (const PurchaseId& one : order_) {
            Known& known = takes_.at(one);
            known.is_pending = false;
            cut.takes.push_back({one, known.buyer, known.take});
            next->restore({one, known.buyer, known.take.units, known.take.sequence, known.take.accepted_at},
                          known.take.state);
        }
        load(cut);
        book_ = std::move(next);
        sequence_base_ = book_->sequence_last();
        rows_of_epoch_ = rows_;
        ++counts_.commands;
        compare_figures();
    }

    // Whoever comes with another epoch changes nothing.
    void be_fenced() {
        const Fence old{fence_.pin, fence_.epoch - 1 + 2 * below(2)};
        const std::vector<ReserveEntry> entries{{.purchase = purchase(++ids_), .buyer = alice}};
        const std::vector<PurchaseId> purchases{some_purchase()};
        for (const RedisCall& call :
             {reserve_call(bucket_, old, entries, last_seen_), release_call(bucket_, old, purchases),
              sell_call(bucket_, old, purchases), restock_call(bucket_, old, "other", 1),
              set_state_call(bucket_, old,
                             {.version = version_ + 9, .phase = Phase::closed, .terms = terms_}),
              find_call(bucket_, old, purchases), winners_call(bucket_, old, 0, 1),
              outbox_call(bucket_, old, {})}) {
            const auto error = error_in(*ask(redis_, call));
            ASSERT_TRUE(error);
            EXPECT_EQ(error->code, RedisErrc::fenced);
            ++counts_.commands;
            ++counts_.fenced;
        }
        const BookLoad late{
            .epoch = fence_.epoch - below(2), .word = word(), .stock = stock_of(1000), .takes = {}};
        const auto pin = read_pin(*ask(redis_, load_call(bucket_, late)));
        ASSERT_FALSE(pin);
        EXPECT_EQ(pin.error().code, RedisErrc::newer);
        ++counts_.loads_refused;
        compare_figures();
    }

    RedisSession& redis_;
    std::mt19937_64& random_;
    Counts& counts_;
    const BookBucket bucket_;
    Book::Terms terms_;
    Phase phase_ = Phase::selling;
    uint64_t version_ = 10;
    std::unique_ptr<Book> book_;
    Fence fence_;
    uint64_t sequence_base_ = 0;  // the book counts on where Redis begins anew with each epoch
    Instant clock_ = t0 - 2s, last_seen_ = t0 - 60s;
    uint32_t ids_ = 0, rows_ = 0, rows_of_epoch_ = 0;
    std::map<PurchaseId, Known> takes_;
    std::vector<PurchaseId> order_;
};

TEST(RedisBook, AnswersAsTheBookDoesToTheSameRandomCommands) {
    RedisServer server;
    RedisSession redis = server.connect();
    ASSERT_FALSE(error_in(*ask(redis, load_library_call())));
    std::mt19937_64 random(seed);
    Counts counts;
    for (uint32_t number = 0; counts.commands < commands_min && !HasFailure(); ++number) {
        Life life(redis, random, number, counts);
        for (int i = 0; i < 120 && !HasFailure(); ++i) life.step();
        if (HasFailure()) std::printf("life %u of seed %lu\n", number, seed);
    }
    for (size_t i = 0; i < outcomes; ++i) {
        EXPECT_GE(counts.outcome[i], counts.commands / 100)
            << "outcome " << i << " is too rare to be compared";
    }
    for (const size_t often :
         {counts.released, counts.release_again, counts.sold, counts.not_sold, counts.restocked, counts.words,
          counts.swept, counts.done, counts.fenced, counts.alone, counts.accepted_alone})
        EXPECT_GE(often, counts.commands / 500);
    EXPECT_GT(counts.restock_again, 20u);
    EXPECT_GT(counts.words_ignored, 20u);
    EXPECT_GT(counts.loads, 200u);
    EXPECT_GT(counts.loads_refused, 20u);
    RecordProperty("commands", std::to_string(counts.commands));
    for (size_t i = 0; i < outcomes; ++i)
        RecordProperty("outcome_" + std::to_string(i), std::to_string(counts.outcome[i]));
}

}  // namespace
}  // namespace doorbuster
