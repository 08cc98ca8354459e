#include "http/purchase_body.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json_names.hpp"

namespace doorbuster {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<std::string> pointers(const PurchaseBody& body) {
    std::vector<std::string> found;
    for (const Fault& fault : faults_of(body)) found.push_back(fault.pointer);
    return found;
}

TEST(PurchaseBody, AsksForOneUnitUnlessItSaysOtherwise) {
    const auto body = read_purchase_body(R"({"item":"phone"})");
    ASSERT_TRUE(body);
    EXPECT_TRUE(body->faults.empty());
    EXPECT_EQ(body->item.view(), "phone");
    EXPECT_EQ(body->quantity, 1u);
    EXPECT_FALSE(body->has_token);
}

TEST(PurchaseBody, ReadsEscapesAndSpaces) {
    const auto body = read_purchase_body("\n { \"quantity\" : 1000 , \"item\" : \"ph\\u006fne\" } ");
    ASSERT_TRUE(body);
    EXPECT_TRUE(body->faults.empty());
    EXPECT_EQ(body->item.view(), "phone");
    EXPECT_EQ(body->quantity, 1000u);
}

TEST(PurchaseBody, ReadsATokenAndRefusesWhatIsNone) {
    EXPECT_TRUE(read_purchase_body(R"({"item":"phone","token":"x"})")->has_token);
    EXPECT_EQ(read_purchase_body(R"({"item":"phone","token":"x"})")->token.view(), "x");
    EXPECT_EQ(read_purchase_body(R"({"token":"\u0061b","item":"phone"})")->token.view(), "ab");
    const auto overlong =
        read_purchase_body(R"({"item":"phone","token":")" + std::string(300, 'x') + R"("})");
    EXPECT_TRUE(overlong->has_token);
    EXPECT_EQ(overlong->token.view(), "");
    for (const char* wrong : {"null", "{}", "7", "true", "[\"x\"]"}) {
        const auto body = read_purchase_body(R"({"item":"phone","token":)" + std::string(wrong) + "}");
        ASSERT_EQ(body->faults.size(), 1u) << wrong;
        EXPECT_THAT(pointers(*body), ElementsAre("/token"));
    }
}

TEST(PurchaseBody, AnItemThatNoSaleCanHaveIsNotCutToOneThatItHas) {
    const auto body = read_purchase_body(R"({"item":")" + std::string(65, 'a') + R"("})");
    ASSERT_TRUE(body);
    EXPECT_TRUE(body->item.empty());
}

TEST(PurchaseBody, NoNameStandsTwiceWhateverItIs) {
    for (const char* text : {R"({"item":"phone","item":"phone"})", R"({"item":"phone","\u0069tem":"phone"})",
                             R"({"item":"phone","x":1,"x":2})", R"({"item":"phone","a":{"b":1,"b":2}})",
                             R"({"item":"phone","a":[{"b":1},{"b":1,"c":2,"b":1}]})"}) {
        EXPECT_FALSE(read_purchase_body(text)) << text;
    }
    const auto siblings = read_purchase_body(R"({"item":"phone","a":[{"b":1},{"b":1}]})");
    ASSERT_TRUE(siblings);
    EXPECT_THAT(pointers(*siblings), ElementsAre("/a"));
}

TEST(PurchaseBody, NamesNoMoreFaultsThanAnybodyReads) {
    std::string text = R"({"item":"phone")";
    for (int i = 0; i < 2000; ++i) text += ",\"" + std::to_string(i) + "\":1";
    const auto body = read_purchase_body(text + "}");
    ASSERT_TRUE(body);
    EXPECT_EQ(body->faults.size(), purchase_faults_max);
}

// What is behind is no JSON: whoever read on would say so.
TEST(PurchaseBody, NothingIsReadBehindTheLastFaultThatIsTold) {
    std::string text = "{";
    for (size_t i = 1; i < purchase_faults_max; ++i) text += "\"" + std::to_string(i) + "\":1,";
    for (const char* last :
         {"\"x\"", "\"item\":7", "\"item\":true", "\"item\":null", "\"item\":1.5", "\"item\":[", "\"item\":{",
          "\"quantity\":\"1\"", "\"quantity\":0", "\"quantity\":18446744073709551615"}) {
        const auto body = read_purchase_body(text + last + ", no JSON");
        ASSERT_TRUE(body) << last;
        EXPECT_EQ(body->faults.size(), purchase_faults_max) << last;
    }
}

TEST(PurchaseBody, NothingIsReadBehindMoreNamesThanCanBeKept) {
    std::string object = "{";
    for (size_t i = 0; i <= JsonNames::names_max; ++i) object += "\"" + std::to_string(i) + "\":1,";
    const std::pair<std::string, std::string> wrong[] = {
        {R"({"item":)" + object, "/item"}, {R"({"x":)" + object, "/x"}, {"[" + object, ""}};
    for (const auto& [text, pointer] : wrong) {
        const auto body = read_purchase_body(text + "no JSON");
        ASSERT_TRUE(body) << text;
        EXPECT_THAT(pointers(*body), ElementsAre(pointer)) << text;
    }
}

TEST(PurchaseBody, EachFaultSaysWhatIsWrong) {
    const auto says = [](std::string_view text) {
        const std::vector<Fault> faults = faults_of(*read_purchase_body(text));
        return faults.size() == 1 ? faults.front().pointer + ' ' + faults.front().detail : std::string();
    };
    EXPECT_EQ(says("[]"), " must be an object");
    EXPECT_EQ(says("{}"), "/item is required");
    EXPECT_EQ(says(R"({"item":7})"), "/item must be the id of an item, as text");
    EXPECT_EQ(says(R"({"item":"phone","quantity":0})"), "/quantity must be a whole number from 1 to 1000");
    EXPECT_EQ(says(R"({"item":"phone","token":7})"), "/token must be a purchase token, as text");
    EXPECT_EQ(says(R"({"item":"phone","price":7})"), "/price is not a field of a purchase");
}

class WrongQuantity : public testing::TestWithParam<const char*> {};
TEST_P(WrongQuantity, IsAFaultOfTheField) {
    const auto body = read_purchase_body(R"({"item":"phone","quantity":)" + std::string(GetParam()) + "}");
    ASSERT_TRUE(body) << GetParam();
    EXPECT_THAT(pointers(*body), ElementsAre("/quantity"));
}
INSTANTIATE_TEST_SUITE_P(All, WrongQuantity,
                         testing::Values("0", "-1", "-1000", "1001", "9223372036854775807",
                                         "9223372036854775808", "18446744073709551616", "1.5", "1.0", "1e3",
                                         "1e400", "\"1\"", "true", "null", "[]", "[1]", "{}",
                                         "{\"quantity\":1}", "NaN", "Infinity", "-Infinity", "-NaN"));

class Malformed : public testing::TestWithParam<const char*> {};
TEST_P(Malformed, IsNoPurchaseAtAll) {
    EXPECT_FALSE(read_purchase_body(GetParam())) << GetParam();
}
INSTANTIATE_TEST_SUITE_P(All, Malformed,
                         testing::Values("", " ", "{", "x", "{\"item\":}", "{\"item\":\"phone\",}", "{} {}",
                                         "{item:\"phone\"}", "{\"item\":'phone'}", "NaN", "{NaN",
                                         "{-Infinity", "{\"item\":\"\xff\"}",
                                         "{\"item\":\"phone\",\"quantity\":01}", "// x\n{}",
                                         "{\"item\":\"a\",\"item\":\"a\"}",
                                         "{\"quantity\":1,\"item\":\"a\",\"quantity\":2}"));

TEST(PurchaseBody, DepthIsBounded) {
    for (const char* bracket : {"[", "{\"item\":"}) {
        std::string bomb;
        for (int i = 0; i < 1000; ++i) bomb += bracket;
        EXPECT_FALSE(read_purchase_body(bomb));
    }
}

TEST(PurchaseBody, EveryUnknownFieldIsNamed) {
    const auto body = read_purchase_body(R"({"item":"phone","price_minor":1,"a/b~":{"item":"x","token":1}})");
    ASSERT_TRUE(body);
    EXPECT_THAT(pointers(*body), UnorderedElementsAre("/price_minor", "/a~1b~0"));
    EXPECT_FALSE(body->has_token);
    EXPECT_EQ(body->item.view(), "phone");
}

TEST(PurchaseBody, AVeryLongFieldNameIsUnknownAndCut) {
    const auto body = read_purchase_body(R"({"item":"phone",")" + std::string(5000, 'k') + R"(":1})");
    ASSERT_TRUE(body);
    EXPECT_THAT(pointers(*body), ElementsAre("/" + std::string(64, 'k')));
}

TEST(PurchaseBody, TheItemIsRequiredAndText) {
    EXPECT_THAT(pointers(*read_purchase_body("{}")), ElementsAre("/item"));
    EXPECT_THAT(pointers(*read_purchase_body(R"({"item":7})")), ElementsAre("/item"));
    EXPECT_THAT(pointers(*read_purchase_body(R"({"item":["phone"]})")), ElementsAre("/item"));
    EXPECT_THAT(pointers(*read_purchase_body(R"([{"item":"phone"}])")), ElementsAre(""));
    EXPECT_THAT(pointers(*read_purchase_body("\"phone\"")), ElementsAre(""));
}

}  // namespace
}  // namespace doorbuster
