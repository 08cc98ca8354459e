#include "orders/letters_desk.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace doorbuster {

namespace {

StoreError not_allowed(std::string detail) {
    return {StoreErrc::not_allowed, "closing the dead letter", std::move(detail)};
}
StoreError is_tried() {
    return {StoreErrc::unavailable, "closing the dead letter", "it is being tried again; ask later"};
}
StoreError no_such_letter() {
    return {StoreErrc::not_found, "finding the dead letter", "there is none at this position"};
}

std::string_view name_of(LetterState state) {
    return state == LetterState::open ? "open" : state == LetterState::retried ? "retried" : "dropped";
}

std::string_view words_for(ReserveOutcome outcome) {
    switch (outcome) {
        case ReserveOutcome::sold_out:
            return "sold_out";
        case ReserveOutcome::sold_out_for_now:
            return "sold_out_for_now";
        case ReserveOutcome::limit_reached:
            return "limit_reached";
        case ReserveOutcome::key_mismatch:
            return "key_mismatch";
        case ReserveOutcome::not_open:
            return "not_open, the item is not sold here";
        default:
            return "refused";
    }
}

}  // namespace

LettersDesk::LettersDesk(LedgerReader& ledger, Orders& orders, BookControl& books, Post post)
    : ledger_(ledger), orders_(orders), books_(books), post_(std::move(post)) {}

StoreResult<LetterState> LettersDesk::state_of(uint64_t position) {
    if (position == 0) return no_such_letter();
    const auto letters = orders_.reader().dead_letters(position - 1, 1);
    if (!letters) return letters.error();
    if (letters->empty() || letters->front().position != position) return no_such_letter();
    return letters->front().state;
}

StoreResult<LetterState> LettersDesk::close(uint64_t position, LetterState as, Instant now) {
    const auto state = state_of(position);
    if (!state) return state;
    if (*state == as) return as;
    if (*state != LetterState::open) return not_allowed(fmt::format("it was {} before", name_of(*state)));
    if (const auto closed = orders_.close_letter(position, as, now); !closed) return closed.error();
    log_info("dead letter closed", {{"position", position}, {"as", name_of(as)}});
    return as;
}

StoreResult<LetterState> LettersDesk::drop(uint64_t position, Instant now) {
    const auto state = state_of(position);
    if (!state) return state;
    if (trying_.contains(position)) return is_tried();
    // It may have been tried again by a process that ended before it could write that down.
    const auto asked = what_to_ask(position);
    if (*state == LetterState::open && asked) {
        const auto worker = orders_.reader().position();
        if (!worker) return worker.error();
        const auto placed = orders_.reader().find_purchase(asked->fresh);
        if (!placed) return placed.error();
        const auto again = ledger_.find_after(*worker, asked->fresh);
        if (!again) return again.error();
        if (*again && !*placed) return is_tried();
        if (*placed && (*placed)->order) {
            const auto closed = close(position, LetterState::retried, now);
            return closed ? not_allowed("it was retried before") : closed.error();
        }
    }
    return close(position, LetterState::dropped, now);
}

StoreResult<Reinstatement> LettersDesk::what_to_ask(uint64_t position) {
    const auto records = ledger_.read_after(position - 1, 1);
    if (!records) return records.error();
    if (records->empty() || records->front().position != position) return no_such_letter();
    const auto& entry = records->front().entry;
    if (!entry) return not_allowed("it cannot be read; drop it");
    if (entry->replaces) {
        const auto before = orders_.reader().find_purchase(*entry->replaces);
        if (!before) return before.error();
        // Whoever paid too late has the money back by now.
        if (*before && (*before)->order) return not_allowed("it continued an order that has ended; drop it");
    }
    const Acceptance& buried = entry->acceptance;
    return Reinstatement{.sale = entry->sale,
                         .item = entry->item,
                         // A buyer's key cannot be this one: keys have no spaces.
                         .fresh = purchase_id_of(entry->sale, entry->item, buried.buyer,
                                                 fmt::format("dead letter {}", position)),
                         .replaces = entry->replaces.value_or(buried.purchase),
                         .buyer = buried.buyer,
                         .units = buried.units};
}

void LettersDesk::retry(uint64_t position, Instant now, Done done) {
    const auto state = state_of(position);
    if (!state) return done(state);
    if (*state == LetterState::retried) return done(state);
    if (*state == LetterState::dropped) return done(not_allowed("it was dropped before"));
    const auto asked = what_to_ask(position);
    if (!asked) return done(asked.error());
    if (!trying_.insert(position).second) return done(is_tried());
    books_.reinstate(*asked, [this, position, now, done = std::move(done)](const Reinstated& answer) {
        post_([this, position, now, done, answer] {
            trying_.erase(position);
            if (!answer.outcome) {
                return done(StoreError{StoreErrc::unavailable, "asking the book", "ask again"});
            }
            const bool is_taken =
                *answer.outcome == ReserveOutcome::accepted || *answer.outcome == ReserveOutcome::repeated;
            if (!is_taken)
                return done(not_allowed(fmt::format("the book says {}", words_for(*answer.outcome))));
            if (answer.hold == HoldState::finished && *answer.outcome == ReserveOutcome::repeated)
                return done(not_allowed("it was tried before, and ended; drop it"));
            done(close(position, LetterState::retried, now));
        });
    });
}

}  // namespace doorbuster
