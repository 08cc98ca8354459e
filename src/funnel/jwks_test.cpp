#include "funnel/jwks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ShopKey;

const std::string x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
const std::string y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
const std::string secret = base64url("a secret of more than thirty-two bytes");
const std::string ec = R"("kty":"EC","crv":"P-256","x":")" + x + R"(","y":")" + y + "\"";
const std::string oct = R"("kty":"oct","k":")" + secret + "\"";

std::string set_of(const std::string& members) {
    return R"({"keys":[{)" + members + "}]}";
}

std::string error_of(const std::string& text) {
    const auto ring = parse_jwks(text);
    return ring ? "it was taken" : ring.error();
}

TEST(Jwks, PinsEachKindOfKeyToItsAlgorithm) {
    const auto ring = testing::ring_of({ShopKey(KeyAlgorithm::hs256, "h"), ShopKey(KeyAlgorithm::es256, "e"),
                                        ShopKey(KeyAlgorithm::eddsa, "d")});
    ASSERT_EQ(ring->keys().size(), 3u);
    EXPECT_EQ(ring->keys()[0].algorithm(), KeyAlgorithm::hs256);
    EXPECT_EQ(ring->keys()[1].algorithm(), KeyAlgorithm::es256);
    EXPECT_EQ(ring->keys()[2].algorithm(), KeyAlgorithm::eddsa);
    EXPECT_EQ(ring->keys()[2].kid(), "d");
}

TEST(Jwks, TakesAKeyWithoutANameAndWithMembersItDoesNotKnow) {
    for (const std::string& more :
         {std::string(), std::string(R"(,"alg":"ES256","use":"sig")"),
          std::string(R"(,"key_ops":["verify"])"), std::string(R"(,"x5c":["AAAA"],"d":"AAAA","iat":1)")}) {
        const auto ring = parse_jwks(set_of(ec + more));
        ASSERT_TRUE(ring.has_value()) << ring.error();
        EXPECT_EQ(ring->keys().front().kid(), "");
    }
}

TEST(Jwks, PassesOverKeysThatAreNotForVerifying) {
    const auto ring = parse_jwks(R"({"keys":[{"kid":"a","use":"enc","kty":"RSA","n":"AAAA"},{"kid":"b",)" +
                                 ec + R"(},{"kid":"c","key_ops":["encrypt"],)" + oct + "}]}");
    ASSERT_TRUE(ring.has_value()) << ring.error();
    ASSERT_EQ(ring->keys().size(), 1u);
    EXPECT_EQ(ring->keys().front().kid(), "b");
}

TEST(Jwks, PassesOverKeysOfKindsThatAreNotUsedUnlessNoneIsLeft) {
    const auto ring = parse_jwks(R"({"keys":[{"kid":"old","kty":"RSA","alg":"RS256"},{"kid":"b",)" + ec +
                                 R"(},{"kid":"c","kty":"EC","crv":"P-384"},{"kty":"OKP","crv":"X25519"}]})");
    ASSERT_TRUE(ring.has_value()) << ring.error();
    ASSERT_EQ(ring->keys().size(), 1u);
    EXPECT_EQ(ring->keys().front().kid(), "b");
    EXPECT_THAT(error_of(set_of(R"("kty":"RSA","alg":"RS256")")),
                HasSubstr("no key for verifying that can be used"));
}

TEST(Jwks, NamesTheKeyThatIsUnusable) {
    EXPECT_THAT(error_of(set_of(ec + R"(,"alg":"HS256")")), HasSubstr("alg is \"HS256\""));
    EXPECT_THAT(error_of(set_of(oct + R"(,"alg":"none")")), HasSubstr("alg is \"none\""));
    EXPECT_THAT(error_of(set_of(oct + R"(,"alg":7)")), HasSubstr("alg is something that is no string"));
    EXPECT_THAT(error_of(set_of(ec + R"(,"use":"tls")")), HasSubstr("use is \"tls\""));
    EXPECT_THAT(error_of(set_of(R"("k":"AAAA")")), HasSubstr("kty is nothing"));
    EXPECT_THAT(error_of(set_of(R"("kty":"EC","crv":"P-256","x":"AA","y":"AA")")), HasSubstr("32 bytes"));
    EXPECT_THAT(error_of(set_of(R"("kty":"EC","crv":"P-256","x":")" + x + R"(","y":")" + x + "\"")),
                HasSubstr("no point of P-256"));
    EXPECT_THAT(error_of(set_of(R"("kty":"oct","k":"AAAA")")), HasSubstr("shorter than 32 bytes"));
    EXPECT_THAT(error_of(set_of(R"("kty":"oct","k":"!!")")), HasSubstr("k is not base64url"));
    for (const std::string& kid :
         {std::string("\"\""), std::string("7"), "\"" + std::string(129, 'k') + "\""}) {
        EXPECT_THAT(error_of(set_of(oct + R"(,"kid":)" + kid)),
                    HasSubstr("kid must be a string of 1 to 128"));
    }
}

TEST(Jwks, NeverRepeatsASecret) {
    const std::string error = error_of(set_of(oct + R"(,"alg":"HS512")"));
    EXPECT_THAT(error, AllOf(HasSubstr("HS512"), Not(HasSubstr(secret))));
    EXPECT_THAT(error_of("{\"keys\":[" + secret), Not(HasSubstr(secret.substr(0, 8))));
}

TEST(Jwks, RefusesTheSameNameTwice) {
    EXPECT_EQ(error_of(R"({"keys":[{"kid":"a",)" + ec + R"(},{"kid":"a",)" + oct + "}]}"),
              "two keys have the kid \"a\"");
}

TEST(Jwks, RefusesWhatIsNoKeySet) {
    for (const char* text : {"", "[]", "{}", "7", R"({"keys":{}})", R"({"keys":[7]})", R"({"keys":[]})",
                             R"({"keys":[{"use":"enc"}]})", "<html></html>"}) {
        EXPECT_NE(error_of(text), "it was taken") << text;
    }
}

TEST(Jwks, IsBounded) {
    EXPECT_THAT(error_of(std::string(jwks_bytes_max + 1, ' ')), HasSubstr("larger than"));
    EXPECT_THAT(error_of(std::string(20, '[')), HasSubstr("not JSON"));
    std::string many;
    for (size_t i = 0; i < 65; ++i) many += R"({"kid":")" + std::to_string(i) + "\"," + oct + "},";
    many.pop_back();
    EXPECT_EQ(error_of(R"({"keys":[)" + many + "]}"), "there are more than 64 keys");
}

}  // namespace
}  // namespace doorbuster
