#include "funnel/identity.hpp"

#include <gtest/gtest.h>

#include "base/crypto.hpp"
#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using testing::ShopKey;

const Instant t0 = from_ms(1'800'000'000'000);
const std::string secret = "a secret of more than thirty-two bytes";
const std::string usual = R"({"alg":"HS256","typ":"JWT"})";
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

Result<Who, IdentityFault> verify(const std::string& token, Instant now = t0) {
    return Identity(secret).verify(token, now);
}

void expect_buyer(const std::string& token, std::string_view buyer = "alice", Instant now = t0) {
    const auto result = verify(token, now);
    ASSERT_TRUE(result.has_value()) << token << " fault " << static_cast<int>(result.error());
    EXPECT_EQ(result->buyer.view(), buyer);
}

void expect_fault(const std::string& token, IdentityFault fault, Instant now = t0) {
    const auto result = verify(token, now);
    ASSERT_FALSE(result.has_value()) << token;
    EXPECT_EQ(result.error(), fault) << token;
}

TEST(Identity, AcceptsWhatTheShopSigned) {
    expect_buyer(token_of(usual, alice()));
    expect_buyer(token_of(R"({"alg":"HS256"})", alice()));
    expect_buyer(token_of(R"({"typ":"at+jwt","alg":"HS256","jku":"http://mallory.example/keys"})", alice()));
    expect_buyer(token_of(usual, alice(R"(,"iss":"shop","roles":["a",{"sub":"mallory","exp":1}])")));
    expect_buyer(token_of(usual, R"({"sub":"al\u0069ce","exp":1800000600.5})"));
    expect_buyer(token_of(usual, R"({"sub":"王小明","exp":1.8000006e9})"), "王小明");
}

TEST(Identity, AcceptsKeysShorterAndLongerThanABlock) {
    for (const size_t size : {32u, 64u, 65u, 200u}) {
        const std::string key(size, 'k');
        const auto result = Identity(key).verify(token_of(usual, alice(), key), t0);
        ASSERT_TRUE(result.has_value()) << size;
    }
}

TEST(Identity, AcceptsWhatItMints) {
    const BuyerId buyer(R"(qu"ote\back)");
    for (const char* kid : {"", "2026"}) {
        const Identity identity({.issuer = "https://shop.example/\"", .audience = "sale"},
                                testing::ring_of({ShopKey(KeyAlgorithm::hs256, kid)}));
        ASSERT_TRUE(identity.can_mint());
        const auto result = identity.verify(identity.mint(buyer, t0, 60s), t0);
        ASSERT_TRUE(result.has_value()) << static_cast<int>(result.error());
        EXPECT_EQ(result->buyer, buyer);
        EXPECT_EQ(result->expires_at, t0 + 60s);
        EXPECT_EQ(identity.verify(identity.mint(buyer, t0, 60s), t0 + 90s).error(), IdentityFault::expired);
    }
    EXPECT_FALSE(Identity({}, testing::ring_of({ShopKey(KeyAlgorithm::es256, "")})).can_mint());
}

TEST(Identity, MissesATokenThatIsNotThere) {
    expect_fault("", IdentityFault::missing);
}

TEST(Identity, RefusesOversizedAndDeeplyNestedTokensBeforeAnyCrypto) {
    expect_fault(std::string(4097, 'a'), IdentityFault::oversized);
    const std::string deep = R"({"a":)" + std::string(20, '[') + std::string(20, ']') + "}";
    expect_fault(base64url(usual) + "." + base64url(deep) + ".AAAA", IdentityFault::oversized);
    expect_fault(base64url(deep) + "." + base64url(alice()) + ".AAAA", IdentityFault::oversized);
    // The same with a signature that is right, or none at all: it was not looked at.
    expect_fault(token_of(usual, deep), IdentityFault::oversized);
    expect_fault(base64url(usual) + "." + base64url(deep) + ".", IdentityFault::oversized);
}

TEST(Identity, RefusesAnyAlgorithmButItsOwn) {
    for (const char* algorithm :
         {"none", "None", "HS512", "HS384", "RS256", "ES256", "EdDSA", "hs256", "HS256 ", ""}) {
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
          R"({"alg":["HS256"]})", R"({"alg":"HS256"} x)", R"({"alg":"HS256","kid":7})",
          R"({"alg":"HS256","kid":null})"}) {
        expect_fault(token_of(header, alice()), IdentityFault::malformed);
    }
    for (const char* payload : {"",
                                "[]",
                                "7",
                                "null",
                                "{",
                                R"({"sub":"alice"})",
                                R"({"sub":"alice","exp":"1800000600"})",
                                R"({"sub":"alice","exp":null})",
                                R"({"sub":"alice","exp":[1800000600]})",
                                R"({"sub":"alice","exp":1800000600,"nbf":"0"})",
                                R"({"sub":"alice","exp":1800000600,"iat":"0"})",
                                R"({"sub":"alice","exp":1800000600,"aud":7})",
                                R"({"sub":"alice","exp":1800000600,"aud":["a",7]})",
                                R"({"sub":"alice","exp":1800000600,"aud":[["a"]]})",
                                R"({"sub":"alice","exp":1800000600,"aud":{"a":"a"}})",
                                R"({"sub":"alice","exp":NaN})",
                                R"({"sub":"alice","sub":"bob","exp":1800000600})",
                                R"({"sub":"alice","exp":1,"exp":1800000600})",
                                R"({"sub":"alice","s\u0075b":"bob","exp":1800000600})",
                                R"({"sub":"alice","exp":1800000600,"x":{"y":1,"y":2}})",
                                "{\"sub\":\"\xff\",\"exp\":1800000600}",
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

TEST(Identity, RefusesATokenFromTheFuture) {
    expect_fault(token_of(usual, alice(R"(,"iat":1800000031)")), IdentityFault::not_yet_valid);
    expect_buyer(token_of(usual, alice(R"(,"iat":1800000030)")));
    expect_fault(token_of(usual, alice(R"(,"iat":1700000000,"nbf":1800000031)")),
                 IdentityFault::not_yet_valid);
    expect_fault(token_of(usual, alice(R"(,"iat":1e300)")), IdentityFault::not_yet_valid);
    expect_buyer(token_of(usual, alice(R"(,"iat":-1e300,"nbf":-5)")));
}

TEST(Identity, AllowsNoMoreSkewThanItsRules) {
    const ShopKey shop(KeyAlgorithm::hs256, "");
    const Identity exact({.skew = 0s}, testing::ring_of({shop}));
    const std::string token = shop.token(R"({"sub":"alice","nbf":1800000000,"exp":1800000060})");
    EXPECT_EQ(exact.verify(token, t0 - 1ms).error(), IdentityFault::not_yet_valid);
    EXPECT_TRUE(exact.verify(token, t0).has_value());
    EXPECT_TRUE(exact.verify(token, t0 + 59'999ms).has_value());
    EXPECT_EQ(exact.verify(token, t0 + 60s).error(), IdentityFault::expired);
}

// What the rules of one shop say about a payload: the fault, or nothing.
std::optional<IdentityFault> fault_under(const IdentityRules& rules, std::string_view more) {
    static const ShopKey shop(KeyAlgorithm::hs256, "");
    const auto who = Identity(rules, testing::ring_of({shop})).verify(shop.token(alice(more)), t0);
    return who ? std::nullopt : std::optional(who.error());
}

TEST(Identity, TakesOnlyTokensOfItsIssuer) {
    const IdentityRules rules{.issuer = "https://shop.example/"};
    EXPECT_EQ(fault_under(rules, R"(,"iss":"https://shop.example/")"), std::nullopt);
    EXPECT_EQ(fault_under(rules, R"(,"iss":"https:\/\/shop.ex\u0061mple/")"), std::nullopt);
    for (const std::string& more :
         {std::string(), std::string(R"(,"iss":"https://shop.example")"),
          std::string(R"(,"iss":"https://shop.example/x")"), std::string(R"(,"iss":"")"),
          std::string(R"(,"iss":["https://shop.example/"])"), R"(,"iss":")" + std::string(300, 'a') + "\"",
          std::string(R"(,"x":{"iss":"https://shop.example/"})")}) {
        EXPECT_EQ(fault_under(rules, more), IdentityFault::wrong_issuer) << more;
    }
}

TEST(Identity, TakesOnlyTokensForItsAudience) {
    const IdentityRules rules{.audience = "sale"};
    for (const char* more :
         {R"(,"aud":"sale")", R"(,"aud":["sale"])", R"(,"aud":["shop","sale"])", R"(,"aud":["sale","shop"])",
          R"(,"aud":["shop","s\u0061le"])", R"(,"x":["shop"],"aud":["sale"],"y":["shop",7])"}) {
        EXPECT_EQ(fault_under(rules, more), std::nullopt) << more;
    }
    for (const char* more :
         {"", R"(,"aud":"shop")", R"(,"aud":"sal")", R"(,"aud":"sales")", R"(,"aud":"")", R"(,"aud":[])",
          R"(,"aud":["sa","le"])", R"(,"aud":["sal","e","sales"])", R"(,"aud":[],"x":["sale"])",
          R"(,"aud":"shop","x":"sale")", R"(,"x":{"aud":"sale"})"}) {
        EXPECT_EQ(fault_under(rules, more), IdentityFault::wrong_audience) << more;
    }
    EXPECT_EQ(fault_under(rules, R"(,"aud":["sale",{"a":"b"}])"), IdentityFault::malformed);
    EXPECT_EQ(fault_under({}, R"(,"aud":"anything")"), std::nullopt);
}

TEST(Identity, HearsWhatTheShopSaysAboutTheHumanCheck) {
    const ShopKey shop(KeyAlgorithm::hs256, "");
    const Identity identity({.check_claim = "human_check"}, testing::ring_of({shop}));
    const auto said = [&](std::string_view more) { return identity.verify(shop.token(alice(more)), t0); };
    EXPECT_EQ(said("")->check, CheckClaim::none_said);
    EXPECT_EQ(said(R"(,"human_check":"none")")->check, CheckClaim::waive);
    EXPECT_EQ(said(R"(,"human_check":"pow")")->check, CheckClaim::pow);
    EXPECT_EQ(said(R"(,"human_check":"image")")->check, CheckClaim::image);
    for (const char* more : {R"(,"human_check":"")", R"(,"human_check":"None")", R"(,"human_check":null)",
                             R"(,"human_check":["none"])", R"(,"human_check":false)",
                             R"(,"human_check":"a value that is too long")"}) {
        EXPECT_EQ(said(more).error(), IdentityFault::malformed) << more;
    }
    EXPECT_EQ(said(R"(,"x":{"human_check":"none"})")->check, CheckClaim::none_said);
    EXPECT_EQ(verify(token_of(usual, alice(R"(,"human_check":"none")")))->check, CheckClaim::none_said);
}

TEST(Identity, VerifiesWithTheKeyThatTheTokenNames) {
    const ShopKey hs256(KeyAlgorithm::hs256, "h"), es256(KeyAlgorithm::es256, "e"),
        eddsa(KeyAlgorithm::eddsa, "d"), stranger(KeyAlgorithm::es256, "e"),
        unknown(KeyAlgorithm::es256, "u");
    const Identity identity({}, testing::ring_of({hs256, es256, eddsa}));
    for (const ShopKey* shop : {&hs256, &es256, &eddsa}) {
        const auto who = identity.verify(shop->token(alice()), t0);
        ASSERT_TRUE(who.has_value()) << shop->header();
        EXPECT_EQ(who->buyer.view(), "alice");
    }
    EXPECT_EQ(identity.verify(stranger.token(alice()), t0).error(), IdentityFault::bad_signature);
    EXPECT_EQ(identity.verify(unknown.token(alice()), t0).error(), IdentityFault::bad_key);
}

TEST(Identity, OnlyComparesTheNameOfAKey) {
    const ShopKey shop(KeyAlgorithm::hs256, "k");
    const Identity identity({}, testing::ring_of({shop}));
    for (const std::string& kid :
         {std::string("../../../../dev/null"), std::string("/proc/self/environ"), std::string("k' OR '1'='1"),
          std::string("http://127.0.0.1:1/keys"), std::string("file:///etc/passwd"), std::string("k\\u0000"),
          std::string(""), std::string("K"), std::string(500, 'k')}) {
        EXPECT_EQ(identity.verify(shop.token(R"({"alg":"HS256","kid":")" + kid + "\"}", alice()), t0).error(),
                  IdentityFault::bad_key)
            << kid;
    }
}

TEST(Identity, NeverTakesAPublicKeyForASecret) {
    // The attacker signs with what everybody knows of the key, in every form of it.
    for (const auto algorithm : {KeyAlgorithm::es256, KeyAlgorithm::eddsa}) {
        const ShopKey shop(algorithm, "k");
        const Identity identity({}, testing::ring_of({shop}));
        ASSERT_TRUE(identity.verify(shop.token(alice()), t0).has_value());
        for (const std::string& known : {shop.public_bytes(), base64url(shop.public_bytes()), shop.jwk()}) {
            for (const char* header : {R"({"alg":"HS256","kid":"k"})", R"({"alg":"HS256"})"}) {
                EXPECT_EQ(identity.verify(token_of(header, alice(), known), t0).error(),
                          IdentityFault::wrong_algorithm);
            }
            EXPECT_EQ(identity.verify(token_of(shop.header(), alice(), known), t0).error(),
                      IdentityFault::bad_signature);
        }
    }
    // Beside a secret, too: it is not this key that the attacker knows.
    const ShopKey secret_key(KeyAlgorithm::hs256, "h"), pair(KeyAlgorithm::es256, "e");
    const Identity both({}, testing::ring_of({secret_key, pair}));
    EXPECT_EQ(both.verify(token_of(R"({"alg":"HS256"})", alice(), pair.public_bytes()), t0).error(),
              IdentityFault::bad_signature);
    EXPECT_EQ(both.verify(pair.token(R"({"alg":"HS256","kid":"e"})", alice()), t0).error(),
              IdentityFault::wrong_algorithm);
}

TEST(Identity, OfOtherKeysOrRulesHasAnotherVersion) {
    const auto ring = testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")});
    const Identity one({}, ring), two({}, ring), three({.audience = "sale"}, ring);
    EXPECT_NE(one.version(), two.version());
    EXPECT_NE(two.version(), three.version());
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
