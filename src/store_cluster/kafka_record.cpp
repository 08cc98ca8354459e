#include "store_cluster/kafka_record.hpp"

#include <limits>
#include <optional>

namespace doorbuster {

namespace {

constexpr uint8_t version_written = 1;
// What begins with a printable character is somebody else's text, and no reason to stop.
constexpr uint8_t version_max = 0x1f;

enum class Kind : uint8_t { accepted = 1, seal = 2 };  // persisted: append, never renumber

// Everything at its longest: two bytes in front, three texts, six numbers, two ids and their mark.
static_assert(kafka_record_bytes_max >=
              2 + 3 + SaleId::bytes_max + ItemId::bytes_max + BuyerId::bytes_max + 6 * 10 + 2 * 16 + 1);

class Writer {
public:
    explicit Writer(Kind kind) {
        byte(version_written);
        byte(static_cast<uint8_t>(kind));
    }

    void byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void number(uint64_t value) {
        for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
        byte(static_cast<uint8_t>(value));
    }
    // Small whatever the sign.
    void signed_number(int64_t value) {
        number((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
    }
    template <class Text>
    void text(const Text& value) {
        byte(static_cast<uint8_t>(value.view().size()));
        bytes_ += value.view();
    }
    void id(const PurchaseId& value) {
        bytes_.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    }

    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

// After the first thing that cannot be, everything read is empty and is_sound() false.
class Parser {
public:
    explicit Parser(std::string_view bytes) : rest_(bytes) {}

    bool is_sound() const { return is_sound_; }
    bool is_at_end() const { return rest_.empty(); }
    void refuse() { is_sound_ = false; }

    uint8_t byte() {
        if (!is_sound_ || rest_.empty()) {
            refuse();
            return 0;
        }
        const auto value = static_cast<uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }
    uint64_t number(uint64_t value_max = std::numeric_limits<uint64_t>::max()) {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const uint8_t group = byte();
            const uint64_t bits = group & 0x7f;
            if (bits << shift >> shift != bits) refuse();  // more than 64 bits
            if (group == 0 && shift != 0) refuse();        // a longer form of a shorter one
            if (!is_sound_) return 0;
            value |= bits << shift;
            if ((group & 0x80) == 0) {
                if (value > value_max) refuse();
                return is_sound_ ? value : 0;
            }
        }
        refuse();
        return 0;
    }
    uint32_t number32() { return static_cast<uint32_t>(number(std::numeric_limits<uint32_t>::max())); }
    int64_t signed_number() {
        const uint64_t value = number();
        return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    template <class Text>
    Text text() {
        const std::optional<Text> value = Text::from(bytes(byte()));
        if (!value) refuse();
        return value.value_or(Text());
    }
    PurchaseId id() {
        PurchaseId value;
        const std::string_view from = bytes(value.bytes.size());
        if (is_sound_) std::memcpy(value.bytes.data(), from.data(), from.size());
        return value;
    }

private:
    std::string_view bytes(size_t count) {
        if (!is_sound_ || rest_.size() < count) {
            refuse();
            return {};
        }
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }

    std::string_view rest_;
    bool is_sound_ = true;
};

LedgerEntry read_accepted(Parser& parser) {
    LedgerEntry record;
    record.sale = parser.text<SaleId>();
    record.item = parser.text<ItemId>();
    record.bucket = parser.number32();
    record.epoch = parser.number();
    Acceptance& acceptance = record.acceptance;
    acceptance.sequence = parser.number();
    acceptance.purchase = parser.id();
    acceptance.buyer = parser.text<BuyerId>();
    acceptance.units = parser.number32();
    acceptance.accepted_at = from_ms(parser.signed_number());
    if (parser.number(1) == 1) record.replaces = parser.id();
    // No book accepts these: what says so was not written by one.
    if (acceptance.units == 0 || acceptance.sequence == 0) parser.refuse();
    return record;
}

Seal read_seal(Parser& parser) {
    Seal record;
    record.sale = parser.text<SaleId>();
    record.item = parser.text<ItemId>();
    record.epoch = parser.number();
    return record;
}

}  // namespace

std::string encode(const LedgerEntry& record) {
    const Acceptance& acceptance = record.acceptance;
    Writer writer(Kind::accepted);
    writer.text(record.sale);
    writer.text(record.item);
    writer.number(record.bucket);
    writer.number(record.epoch);
    writer.number(acceptance.sequence);
    writer.id(acceptance.purchase);
    writer.text(acceptance.buyer);
    writer.number(acceptance.units);
    writer.signed_number(to_ms(acceptance.accepted_at));
    writer.byte(record.replaces ? 1 : 0);
    if (record.replaces) writer.id(*record.replaces);
    return writer.take();
}

std::string encode(const Seal& record) {
    Writer writer(Kind::seal);
    writer.text(record.sale);
    writer.text(record.item);
    writer.number(record.epoch);
    return writer.take();
}

KafkaRecord decode_record(std::string_view bytes) {
    Parser parser(bytes);
    const uint8_t version = parser.byte();
    const bool is_newer = version > version_written && version <= version_max;
    if (is_newer) return UnreadableRecord{UnreadableWhy::newer, std::string(bytes)};
    const uint8_t kind = parser.byte();
    KafkaRecord record;
    if (version != version_written) {
        parser.refuse();
    } else if (kind == static_cast<uint8_t>(Kind::accepted)) {
        record = read_accepted(parser);
    } else if (kind == static_cast<uint8_t>(Kind::seal)) {
        record = read_seal(parser);
    } else {
        parser.refuse();
    }
    if (!parser.is_sound() || !parser.is_at_end()) {
        return UnreadableRecord{UnreadableWhy::malformed, std::string(bytes)};
    }
    return record;
}

}  // namespace doorbuster
