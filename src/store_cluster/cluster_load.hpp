// What a Redis bucket is loaded with, from what PostgreSQL has at the cut.
#pragma once

#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/redis_codec.hpp"

namespace doorbuster {

// Both: REQUIRES: the item is one of the sale's.
// Takes of earlier epochs keep their numbers for the eye; the epoch that is loaded begins its own with 1.
BookWord book_word_of(const SaleRecord& sale, const ItemId& item);
BookLoad book_load_of(const EpochCut& cut, const ItemId& item);

}  // namespace doorbuster
