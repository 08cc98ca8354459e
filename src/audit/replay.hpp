// Replay: the sale once more, from the ledger through the book, and whether the same comes out.
//
// Fresh books get the sale's terms and the units it began with. Every ledger record asks the
// real decision again and must be accepted, with its own sequence number. What else moved units
// (payments, releases, restocks, cancellations) comes from the journals. The outcome is then
// compared with the stored one, bit for bit: the stock of each item, what each purchase has of
// its units, each buyer's active units.
//
// When did the book hear of a move? Not before it was committed, and in the order of commits:
// that much is recorded, by the moves' numbers and by how far the worker had come in the ledger.
// No clock is asked: it may have been set. So a move is applied as late as possible, when an
// acceptance would otherwise be refused, and never before what came before it. If there is any
// order of events that explains the ledger, this one does: what an acceptance finds depends only
// on how many moves were applied, so waiting forecloses nothing.
//
// Cancellations at the worker are no moves of the stock row, and wait in a queue of their own. Each
// gives back, so one that comes early takes nothing from anybody: they go before the moves.
//
// Where the books are in Redis, each epoch begins with a book that was loaded from the orders, and what it
// was loaded with is on no record. But it is what the epochs before it left: so one book goes through all of
// them, epoch by epoch, in the order of the numbers, and what took nothing (takes.hpp) is not put to it. It
// never has fewer units than the one in Redis had. A move is applied under its own epoch or a later one. What
// this cannot tell is in `not_compared`. A purchase that the worker cancelled may be refused here: both said
// no.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/records.hpp"

namespace doorbuster::audit {

struct Replayed {
    // All mismatches are counted; so many are told.
    static constexpr size_t mismatches_max = 1000;

    SaleId sale;
    uint64_t position = 0;  // the worker's, as in a Report: what is behind it has no stored outcome yet
    uint64_t ledger_records = 0, in_flight = 0, moves = 0;
    uint64_t late = 0;                           // behind the SEAL of their epoch: they took nothing
    uint64_t numbers_missing = 0;                // given by Redis; their records never came to the ledger
    std::vector<std::string_view> not_compared;  // in plain words; nothing where there is one book
    std::string digest_replayed, digest_stored;  // SHA-256 of the two outcomes, hexadecimal
    std::vector<std::string> mismatches;         // in plain words
    uint64_t mismatches_total = 0;

    bool agrees() const { return mismatches_total == 0; }
};

// REQUIRES: the records are those of one sale.
Replayed replay(const Records&);

std::string json_of(const Replayed&);

}  // namespace doorbuster::audit
