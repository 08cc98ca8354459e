#include "funnel/identity.hpp"

#include <gtest/gtest.h>

#include "base/crypto.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

const std::string secret = "a secret of more than thirty-two bytes";
const std::string usual = R"({"alg":"HS256","typ":"JWT"})";
const Instant t0 = from_ms(1'800'000'000'000);
constexpr std::string_view valid_until = "1800000600";

// Signed with OpenSSL's own HMAC, so that ours is compared with it.
std::string token_of(std::string_view header, std::string_view payload, std::string_view key = secret) {
    const std::string text = base64url(header) + "." + base64url(payload);
    const Digest digest = hmac_sha256(key, text);
    return text + "." + base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string alice(std::string_view more = "") {
    return R"({"sub":"alice","exp":)" + std::string(valid_until) + std::string(more) + "}";
}

Result<BuyerId, IdentityFault> verify(const std::string& token, Instant now = t0) {
    return Identity(secret).verify("Bearer " + token, now);
}

void expect_buyer(const std::string& token, std::string_view buyer = "alice", Instant now = t0) {
    const auto result = verify(token, now);
    ASSERT_TRUE(result.has_value()) << token << " fault " << static_cast<int>(result.error());
    EXPECT_EQ((*result).view(), buyer);
}

void expect_fault(const std::string& token, IdentityFault fault, Instant now = t0) {
    const auto result = verify(token, now);
    ASSERT_FALSE(result.has_value()) << token;
    EXPECT_EQ(result.error(), fault) << token;
}

TEST(Identity, AcceptsWhatTheShopSigned) {
    expect_buyer(token_of(usual, alice()));
    expect_buyer(token_of(R"({"alg":"HS256"})", alice()));
    expect_buyer(token_of(R"({"typ":"at+jwt","alg":"HS256","kid":"../../etc/passwd"})", alice()));
    expect_buyer(token_of(usual, alice(R"(,"iss":"shop","roles":["a",{"sub":"mallory","exp":1}])")));
    expect_buyer(token_of(usual, R"({"sub":"al\u0069ce","exp":1800000600.5})"));
    expect_buyer(token_of(usual, R"({"sub":"王小明","exp":1.8000006e9})"), "王小明");
}

TEST(Identity, AcceptsKeysShorterAndLongerThanABlock) {
    for (const size_t size : {32u, 64u, 65u, 200u}) {
        const std::string key(size, 'k');
        const auto result = Identity(key).verify("bearer " + token_of(usual, alice(), key), t0);
        ASSERT_TRUE(result.has_value()) << size;
    }
}

TEST(Identity, AcceptsWhatItMints) {
    const Identity identity(secret);
    const BuyerId buyer(R"(qu"ote\back)");
    const auto result = identity.verify("Bearer " + identity.mint(buyer, t0, 60s), t0);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(*result, buyer);
    EXPECT_EQ(identity.verify("Bearer " + identity.mint(buyer, t0, 60s), t0 + 90s).error(),
              IdentityFault::expired);
}

TEST(Identity, MissesATokenThatIsNotThere) {
    const Identity identity(secret);
    for (const char* header : {"", "Bearer", "Bearer ", "Basic YWxpY2U6eA==", "Bearertoken"}) {
        EXPECT_EQ(identity.verify(header, t0).error(), IdentityFault::missing) << header;
    }
}

TEST(Identity, RefusesOversizedAndDeeplyNestedTokensBeforeAnyCrypto) {
    expect_fault(std::string(4097, 'a'), IdentityFault::oversized);
    const std::string deep = R"({"a":)" + std::string(20, '[') + std::string(20, ']') + "}";
    expect_fault(base64url(usual) + "." + base64url(deep) + ".AAAA", IdentityFault::oversized);
    expect_fault(base64url(deep) + "." + base64url(alice()) + ".AAAA", IdentityFault::oversized);
}

TEST(Identity, RefusesAnyAlgorithmButItsOwn) {
    for (const char* algorithm : {"none", "None", "HS512", "HS384", "RS256", "hs256", "HS256 ", ""}) {
        expect_fault(token_of(R"({"typ":"JWT","alg":")" + std::string(algorithm) + "\"}", alice()),
                     IdentityFault::wrong_algorithm);
    }
    expect_fault(base64url(R"({"alg":"none"})") + "." + base64url(alice()) + ".",
                 IdentityFault::wrong_algorithm);
}

TEST(Identity, RefusesAnotherKeysSignature) {
    expect_fault(token_of(usual, alice(), "another secret of more than 32 bytes"),
                 IdentityFault::bad_signature);
}

TEST(Identity, RefusesATokenTamperedWithInAnyPart) {
    const std::string good = token_of(usual, alice());
    expect_buyer(good);
    for (size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = bad[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(verify(bad).has_value()) << "byte " << i;
    }
    for (size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(verify(good.substr(0, size)).has_value()) << "first " << size;
    }
    const std::string payload = base64url(R"({"sub":"mallory","exp":1800000600})");
    const size_t first = good.find('.'), second = good.rfind('.');
    expect_fault(good.substr(0, first + 1) + payload + good.substr(second), IdentityFault::bad_signature);
    expect_fault(good.substr(0, second) + ".", IdentityFault::bad_signature);
    expect_fault(good + "AAAA", IdentityFault::bad_signature);
}

TEST(Identity, RefusesMalformedTokens) {
    for (const char* token : {"x", "a.b", "a.b.c.d", "...", "!!.!!.!!"})
        expect_fault(token, IdentityFault::malformed);
    for (const char* header :
         {"", "[]", "\"HS256\"", "{", R"({"alg":5})", R"({"typ":"JWT"})", R"({"alg":"none","alg":"HS256"})",
          R"({"alg":"HS256","crit":["exp"]})", R"({"alg":"HS256","typ":"JWS"})", R"({"alg":"HS256","typ":7})",
          R"({"alg":["HS256"]})", R"({"alg":"HS256"} x)"}) {
        expect_fault(token_of(header, alice()), IdentityFault::malformed);
    }
    for (const char* payload :
         {"", "[]", "7", "null", "{", R"({"sub":"alice"})", R"({"sub":"alice","exp":"1800000600"})",
          R"({"sub":"alice","exp":null})", R"({"sub":"alice","exp":[1800000600]})",
          R"({"sub":"alice","exp":1800000600,"nbf":"0"})", R"({"sub":"alice","exp":NaN})",
          R"({"sub":"alice","sub":"bob","exp":1800000600})", R"({"sub":"alice","exp":1,"exp":1800000600})",
          R"({"sub":"alice","s\u0075b":"bob","exp":1800000600})",
          R"({"sub":"alice","exp":1800000600,"x":{"y":1,"y":2}})", "{\"sub\":\"\xff\",\"exp\":1800000600}",
          R"({"sub":"alice","exp":1800000600}{})"}) {
        expect_fault(token_of(usual, payload), IdentityFault::malformed);
    }
    std::string many = alice();
    many.pop_back();
    for (size_t i = 0; i < 70; ++i) many += ",\"m" + std::to_string(i) + "\":0";
    expect_fault(token_of(usual, many + "}"), IdentityFault::malformed);
}

TEST(Identity, HoldsTimesWithThirtySecondsOfSkew) {
    const std::string token = token_of(usual, R"({"sub":"alice","nbf":1800000000,"exp":1800000060})");
    expect_fault(token, IdentityFault::not_yet_valid, t0 - 31s);
    expect_buyer(token, "alice", t0 - 30s);
    expect_buyer(token, "alice", t0 + 89s);
    expect_fault(token, IdentityFault::expired, t0 + 90s);
    expect_fault(token_of(usual, R"({"sub":"alice","exp":-1e300})"), IdentityFault::expired);
    expect_buyer(token_of(usual, R"({"sub":"alice","exp":1e300})"));
}

TEST(Identity, NeedsAUsableBuyer) {
    for (const std::string& sub :
         {std::string("\"\""), std::string("7"), std::string("null"), std::string("[\"alice\"]"),
          std::string(R"({"sub":"alice"})"), std::string(R"("a\nb")"), std::string(R"("a\u0000b")"),
          std::string(R"("a\u007fb")"), "\"" + std::string(129, 'a') + "\""}) {
        expect_fault(token_of(usual, R"({"exp":1800000600,"sub":)" + sub + "}"), IdentityFault::no_buyer);
    }
    expect_fault(token_of(usual, R"({"exp":1800000600})"), IdentityFault::no_buyer);
    expect_buyer(token_of(usual, R"({"exp":1800000600,"sub":")" + std::string(128, 'a') + "\"}"),
                 std::string(128, 'a'));
}

}  // namespace
}  // namespace doorbuster
