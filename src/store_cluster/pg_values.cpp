#include "store_cluster/pg_values.hpp"

#include <cstring>

#include "base/check.hpp"

namespace doorbuster::pg {

namespace {

// From the server's pg_type.dat; they never change.
constexpr Oid bool_type = 16, bytea_type = 17, int8_type = 20, text_type = 25, uuid_type = 2950;
constexpr Oid int8_array = 1016, text_array = 1009, uuid_array = 2951;

template <class Integer>
void append_big_endian(std::string& to, Integer value) {
    for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8) {
        to.push_back(static_cast<char>(static_cast<std::make_unsigned_t<Integer>>(value) >> shift & 0xff));
    }
}

std::string_view bytes_of(const PurchaseId& id) {
    return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

}  // namespace

bool is_storable(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const auto byte = [&](size_t i) {
            return static_cast<uint8_t>(at + i < text.size() ? text[at + i] : 0);
        };
        const uint8_t lead = byte(0);
        const size_t size = lead < 0x80   ? 1
                            : lead < 0xc2 ? 0
                            : lead < 0xe0 ? 2
                            : lead < 0xf0 ? 3
                            : lead < 0xf5 ? 4
                                          : 0;
        if (lead == 0 || size == 0) return false;
        for (size_t i = 1; i < size; ++i) {
            if ((byte(i) & 0xc0) != 0x80) return false;
        }
        // Overlong, a surrogate, beyond the last code point.
        if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
            (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) {
            return false;
        }
        at += size;
    }
    return true;
}

void Column::push_bytes(std::string_view bytes) {
    append_big_endian(elements_, static_cast<int32_t>(bytes.size()));
    elements_.append(bytes);
    ++count_;
}

void Column::push_none() {
    append_big_endian(elements_, int32_t{-1});
    has_null_ = true;
    ++count_;
}

std::string Column::encoded() const {
    std::string bytes;
    bytes.reserve(elements_.size() + 20);
    append_big_endian(bytes, int32_t{count_ == 0 ? 0 : 1});  // dimensions
    append_big_endian(bytes, int32_t{has_null_});
    append_big_endian(bytes, static_cast<int32_t>(element_));
    if (count_ == 0) return bytes;
    append_big_endian(bytes, count_);
    append_big_endian(bytes, int32_t{1});  // index of the first
    return bytes + elements_;
}

Integers::Integers() : Column(int8_type, int8_array) {}
Texts::Texts() : Column(text_type, text_array) {}
Uuids::Uuids() : Column(uuid_type, uuid_array) {}

void Integers::push_integer(int64_t value) {
    std::string bytes;
    append_big_endian(bytes, value);
    push_bytes(bytes);
}

void Uuids::push(const PurchaseId& id) {
    push_bytes(bytes_of(id));
}

void Uuids::push(const std::optional<PurchaseId>& id) {
    id ? push(*id) : push_none();
}

Params& Params::add_integer(int64_t value) {
    Value& added = values_.emplace_back(Value{int8_type, false, {}});
    append_big_endian(added.bytes, value);
    return *this;
}

Params& Params::add_null_integer() {
    values_.push_back({int8_type, true, {}});
    return *this;
}

Params& Params::add(std::string_view text) {
    values_.push_back({text_type, false, std::string(text)});
    return *this;
}

Params& Params::add_or_null(std::string_view text) {
    values_.push_back({text_type, text.empty(), std::string(text)});
    return *this;
}

Params& Params::add(const PurchaseId& id) {
    values_.push_back({uuid_type, false, std::string(bytes_of(id))});
    return *this;
}

Params& Params::add(const std::optional<PurchaseId>& id) {
    if (id) return add(*id);
    values_.push_back({uuid_type, true, {}});
    return *this;
}

Params& Params::add(const Column& column) {
    values_.push_back({column.array_, false, column.encoded()});
    return *this;
}

Params& Params::add_bytes(std::string_view bytes) {
    values_.push_back({bytea_type, false, std::string(bytes)});
    return *this;
}

Params& Params::add_flag(bool value) {
    values_.push_back({bool_type, false, std::string(1, static_cast<char>(value))});
    return *this;
}

std::string_view Row::bytes(int column) const {
    return {PQgetvalue(result_, at_, first_ + column),
            static_cast<size_t>(PQgetlength(result_, at_, first_ + column))};
}

int64_t Row::integer(int column) const {
    const std::string_view raw = bytes(column);
    CHECK(raw.size() == 8 || raw.size() == 4);  // bigint or integer: the statements are ours
    uint64_t value = 0;
    for (const char byte : raw) value = value << 8 | static_cast<uint8_t>(byte);
    return raw.size() == 4 ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
}

bool Row::flag(int column) const {
    const std::string_view raw = bytes(column);
    return raw.size() == 1 && raw[0] != 0;
}

PurchaseId Row::purchase(int column) const {
    PurchaseId id;
    const std::string_view raw = bytes(column);
    CHECK(raw.size() == id.bytes.size());
    std::memcpy(id.bytes.data(), raw.data(), raw.size());
    return id;
}

std::optional<PurchaseId> Row::purchase_or_none(int column) const {
    return is_null(column) ? std::nullopt : std::optional(purchase(column));
}

size_t Rows::changed() const {
    if (tag_) return changed_;
    size_t count = 0;
    for (const char* at = PQcmdTuples(result_.get()); *at != '\0'; ++at) {
        count = count * 10 + static_cast<size_t>(*at - '0');
    }
    return count;
}

}  // namespace doorbuster::pg
