// For the tests of the calls around human checks: a sale, a buyer, and who answers checks.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <memory>
#include <string>
#include <thread>

#include "http/challenges.hpp"
#include "http/tokens.hpp"
#include "sale/testing.hpp"

namespace doorbuster {

// What the widget sends back, `off` away from the right number.
inline std::string solve(const boost::json::object& made, uint64_t off = 0) {
    const std::string salt(made.at("salt").as_string());
    uint64_t number = 0;
    while (true) {
        const auto hash = hex_of(sha256(salt + std::to_string(number)));
        if (made.at("challenge").as_string() == boost::json::string_view(hash.data(), hash.size())) break;
        ++number;
    }
    return base64(fmt::format(
        R"({{"algorithm":"SHA-256","challenge":"{}","number":{},"salt":"{}","signature":"{}","took":3}})",
        std::string_view(made.at("challenge").as_string()), number + off, salt,
        std::string_view(made.at("signature").as_string())));
}

class CheckFixture : public ::testing::Test {
protected:
    CheckFixture() {
        images.begin();
        while (images.drawn_total() < 2) std::this_thread::yield();
    }

    static void fill(std::span<uint8_t> bytes) {
        static uint8_t next = 0;
        for (uint8_t& byte : bytes) byte = ++next;
    }
    static ListedSale listed_phone_drop() {
        Sale sale = testing::phone_drop();
        sale.human_check = HumanCheck::pow;
        Item phone = sale.items[0], cover = sale.items[0];
        cover.id = ItemId("cover");
        return {.sale = sale,
                .state = SaleState::open,
                .version = 1,
                .items = {{phone, ItemSlot{0}, std::make_shared<ItemBoard>()},
                          {cover, ItemSlot{1}, std::make_shared<ItemBoard>()}}};
    }

    Challenges::Ask challenge_ask() const {
        return {.request = request,
                .listed = listed,
                .who = who,
                .pow = pow,
                .image = image,
                .pow_number_max = 500,
                .pow_target_per_second = pow_target_per_second,
                .overload_level = overload_level,
                .now = now,
                .uptime = std::chrono::hours(1)};
    }
    CheckReply challenge(std::string body) {
        text = std::move(body);
        request.body = text;
        return challenges.make(challenge_ask());
    }
    CheckReply token(std::string body) {
        text = std::move(body);
        request.body = text;
        return tokens.answer(token_ask()).reply;
    }
    Tokens::Ask token_ask() const {
        return {.request = request,
                .listed = listed,
                .who = who,
                .pow = pow,
                .image = image,
                .tokens = purchase_tokens,
                .token_life = std::chrono::minutes(10),
                .now = now};
    }

    static boost::json::object body_of(const CheckReply& reply) {
        const auto* body = std::get_if<std::string_view>(&reply);
        EXPECT_NE(body, nullptr) << "refused";
        return body == nullptr ? boost::json::object{} : boost::json::parse(*body).as_object();
    }
    static Code code_of(const CheckReply& reply) {
        if (const auto* problem = std::get_if<Problem>(&reply)) return problem->code;
        if (is_excused(reply)) return Code::check_failed;
        EXPECT_TRUE(std::holds_alternative<Code>(reply)) << "answered";
        return std::holds_alternative<Code>(reply) ? std::get<Code>(reply) : Code::internal;
    }
    static bool is_excused(const CheckReply& reply) { return std::holds_alternative<ExcusedCheck>(reply); }
    // Of an invalid body, separated by spaces.
    static std::string pointers_of(const CheckReply& reply) {
        EXPECT_EQ(code_of(reply), Code::invalid);
        std::string pointers;
        const auto* problem = std::get_if<Problem>(&reply);
        if (problem == nullptr) return "none";
        for (const Fault& fault : problem->faults) pointers += (pointers.empty() ? "" : " ") + fault.pointer;
        return pointers;
    }

    const SigningKeys::Secrets secrets{.current = std::string(32, 's')};
    const PowChecks pow{secrets};
    const ImageChecks image{secrets};
    const PurchaseTokens purchase_tokens{secrets};
    ImagePool images{
        2, [](uint64_t) { return PooledImage{.text = "CEH349", .data_uri = "data:image/png;base64,AAAA"}; },
        [] { return uint64_t{0}; }};
    Burned burned{1024};
    Challenges challenges{images, &fill};
    Tokens tokens{burned};

    ListedSale listed = listed_phone_drop();
    const ItemTokens item_tokens = purchase_tokens.of(listed.sale.id, listed.items[0].item.id);
    Who who{.buyer = testing::alice, .expires_at = testing::t0, .valid_from = testing::t0};
    Request request = [] {
        Request post;
        post.method = Method::post;
        return post;
    }();
    std::string text;
    double pow_target_per_second = 1000;
    unsigned overload_level = 0;
    Instant now = testing::t0;
};

}  // namespace doorbuster
