// FlatObject: a JSON object of texts and whole numbers, read without allocating.
//
// The answers to checks, and the requests around them, are small objects whose fields are known
// beforehand. The caller says which it wants and where their text may go; strict, because two
// readers of one text must never see two things in it: a name that stands twice makes the whole
// text malformed.
//
// Thread safety: none needed; a reading belongs to its caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace doorbuster {

struct FlatField {
    enum class Kind : uint8_t {
        absent,
        text,      // `value` is the text; empty and `overlong` if it did not fit
        whole,     // a whole number from 0 to 2^63 - 1, in digits
        anything,  // a value of another type, or nested
    };

    // Wanted.
    std::string_view name;
    std::span<char> room;

    // Found.
    Kind kind = Kind::absent;
    bool overlong = false;
    std::string_view value = {};  // into `room`
    int64_t number = 0;           // of a whole number
};

enum class FlatFault : uint8_t { none, malformed, not_an_object };

struct FlatReading {
    FlatFault fault = FlatFault::none;
    // The first name that nobody asked for, cut at its bound; whether that is a fault is the
    // caller's to say.
    std::optional<std::string_view> other_name = {};
};

constexpr size_t flat_name_bytes_max = 64;

// Malformed: no JSON, nested deeper or with more names than a reader needs, or a name that stands twice.
// `names` is room for other_name. REQUIRES: the fields are fresh, at most 8.
[[nodiscard]] FlatReading read_flat_object(std::string_view json, std::span<FlatField> fields,
                                           std::span<char, flat_name_bytes_max> names);

}  // namespace doorbuster
