#include "store_cluster/kafka_record.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

template <class Text>
Text any_text() {
    const auto size = *rc::gen::inRange<size_t>(1, Text::bytes_max + 1);
    return Text(*rc::gen::container<std::string>(size, rc::gen::arbitrary<char>()));
}

PurchaseId any_purchase() {
    return {*rc::gen::container<std::array<uint8_t, 16>>(rc::gen::arbitrary<uint8_t>())};
}

// Whole ranges, ends included: small numbers alone would never need a second byte.
template <class Number>
Number any_number(Number least) {
    constexpr Number most = std::numeric_limits<Number>::max();
    return *rc::gen::oneOf(rc::gen::inRange<Number>(least, most),
                           rc::gen::elementOf(std::vector<Number>{least, 127, 128, most}));
}

LedgerEntry any_accepted() {
    LedgerEntry record{
        .sale = any_text<SaleId>(),
        .item = any_text<ItemId>(),
        .acceptance = {.purchase = any_purchase(),
                       .buyer = any_text<BuyerId>(),
                       .units = any_number<uint32_t>(1),
                       .sequence = any_number<uint64_t>(1),
                       .accepted_at = from_ms(any_number<int64_t>(std::numeric_limits<int64_t>::min()))},
        .epoch = any_number<uint64_t>(0),
        .bucket = any_number<uint32_t>(0)};
    if (*rc::gen::arbitrary<bool>()) record.replaces = any_purchase();
    return record;
}

Seal any_seal() {
    return {any_text<SaleId>(), any_text<ItemId>(), any_number<uint64_t>(0)};
}

std::string encode_any(const KafkaRecord& record) {
    if (const auto* accepted = std::get_if<LedgerEntry>(&record)) return encode(*accepted);
    if (const auto* seal = std::get_if<Seal>(&record)) return encode(*seal);
    return std::get<UnreadableRecord>(record).raw;
}

void expect_unreadable(const std::string& bytes, UnreadableWhy why) {
    const KafkaRecord record = decode_record(bytes);
    const auto* unreadable = std::get_if<UnreadableRecord>(&record);
    ASSERT_NE(unreadable, nullptr);
    EXPECT_EQ(unreadable->why, why);
    EXPECT_EQ(unreadable->raw, bytes);
}

RC_GTEST_PROP(KafkaRecord, AnAcceptanceIsReadAsItWasWritten, ()) {
    const LedgerEntry written = any_accepted();
    const std::string bytes = encode(written);
    RC_ASSERT(bytes.size() <= kafka_record_bytes_max);
    const KafkaRecord record = decode_record(bytes);
    RC_ASSERT(std::holds_alternative<LedgerEntry>(record));
    const auto& read = std::get<LedgerEntry>(record);
    RC_ASSERT(read.sale == written.sale);
    RC_ASSERT(read.item == written.item);
    RC_ASSERT(read.acceptance == written.acceptance);
    RC_ASSERT(read.replaces == written.replaces);
    RC_ASSERT(read.bucket == written.bucket);
    RC_ASSERT(read.epoch == written.epoch);
}

RC_GTEST_PROP(KafkaRecord, ASealIsReadAsItWasWritten, ()) {
    const Seal written = any_seal();
    const KafkaRecord record = decode_record(encode(written));
    RC_ASSERT(std::holds_alternative<Seal>(record));
    const auto& read = std::get<Seal>(record);
    RC_ASSERT(read.sale == written.sale && read.item == written.item && read.epoch == written.epoch);
}

RC_GTEST_PROP(KafkaRecord, NoBytesBreakTheReader, (const std::string& bytes)) {
    RC_ASSERT(encode_any(decode_record(bytes)) == bytes);
    // Behind a good beginning the fields are reached, too.
    for (const std::string& start : {std::string("\x01\x01"), std::string("\x01\x02")}) {
        RC_ASSERT(encode_any(decode_record(start + bytes)) == start + bytes);
    }
}

RC_GTEST_PROP(KafkaRecord, WhatIsBentIsEitherUnreadableOrExactlyWhatItSays, ()) {
    std::string bytes = *rc::gen::arbitrary<bool>() ? encode(any_accepted()) : encode(any_seal());
    const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    RC_ASSERT(encode_any(decode_record(bytes)) == bytes);
}

RC_GTEST_PROP(KafkaRecord, ARecordCutShortOrContinuedIsUnreadable, ()) {
    const std::string bytes = *rc::gen::arbitrary<bool>() ? encode(any_accepted()) : encode(any_seal());
    const auto size = *rc::gen::inRange<size_t>(0, bytes.size());
    RC_ASSERT(std::holds_alternative<UnreadableRecord>(decode_record(bytes.substr(0, size))));
    RC_ASSERT(std::holds_alternative<UnreadableRecord>(decode_record(bytes + '\0')));
}

// What stands in a topic outlives the program that wrote it.
TEST(KafkaRecord, TheBytesOfVersionOneStay) {
    const LedgerEntry record{.sale = SaleId("s"),
                             .item = ItemId("it"),
                             .acceptance = {.purchase = purchase(7),
                                            .buyer = alice,
                                            .units = 2,
                                            .sequence = 300,
                                            .accepted_at = from_ms(1)},
                             .epoch = 4,
                             .bucket = 3};
    EXPECT_EQ(encode(record), std::string("\x01\x01\x01s\x02it\x03\x04\xac\x02\x07", 12) +
                                  std::string(15, '\0') +
                                  std::string("\x05"
                                              "alice\x02\x02\0",
                                              9));
    EXPECT_EQ(encode(Seal{SaleId("s"), ItemId("it"), 5}), "\x01\x02\x01s\x02it\x05");
}

TEST(KafkaRecord, ALaterVersionIsToldApartFromRubbish) {
    expect_unreadable("\x02whatever comes", UnreadableWhy::newer);
    expect_unreadable("rubbish", UnreadableWhy::malformed);
    expect_unreadable("", UnreadableWhy::malformed);
    expect_unreadable(std::string(1, '\0'), UnreadableWhy::malformed);
    expect_unreadable("\x01\x09", UnreadableWhy::malformed);
}

TEST(KafkaRecord, APurchaseOfNothingIsUnreadable) {
    LedgerEntry record{.sale = SaleId("s"),
                       .item = ItemId("i"),
                       .acceptance = {.purchase = purchase(1), .buyer = alice, .units = 0, .sequence = 1}};
    expect_unreadable(encode(record), UnreadableWhy::malformed);
    record.acceptance.units = 1;
    EXPECT_TRUE(std::holds_alternative<LedgerEntry>(decode_record(encode(record))));
    record.acceptance.sequence = 0;
    expect_unreadable(encode(record), UnreadableWhy::malformed);
}

}  // namespace
}  // namespace doorbuster
