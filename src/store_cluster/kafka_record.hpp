// What stands in the ledger's topic, as bytes: an accepted purchase, or a seal.
//
// Compact and versioned: a byte for the version, one for the kind, then the fields in their order;
// numbers as base-128 groups, texts with their length in front. Every record has exactly one
// encoding, so that whatever can be read is written back byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "store/ledger.hpp"

namespace doorbuster {

// What the producers and the workers write and read; a topic that allows less is told at warm-up.
constexpr size_t kafka_record_bytes_max = 512;

enum class UnreadableWhy : uint8_t {
    newer,      // of a later version of this program: a reason to stop, not to give up on a buyer
    malformed,  // of none
};

// For the dead letter.
struct UnreadableRecord {
    UnreadableWhy why;
    std::string raw;
};

using KafkaRecord = std::variant<LedgerEntry, Seal, UnreadableRecord>;

std::string encode(const LedgerEntry&);
std::string encode(const Seal&);

// Takes any bytes.
KafkaRecord decode_record(std::string_view bytes);

}  // namespace doorbuster
