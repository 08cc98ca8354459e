#include "base/crypto.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/hash.hpp"

namespace doorbuster {
namespace {

std::string hex(const Digest& digest) {
    std::string text;
    for (const uint8_t byte : digest) {
        char pair[3];
        std::snprintf(pair, sizeof pair, "%02x", byte);
        text += pair;
    }
    return text;
}

TEST(Crypto, KnowsThePublishedVectors) {
    EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

RC_GTEST_PROP(Base64Url, ReadsBackWhatItWrote, (const std::string& bytes)) {
    const std::string text = base64url(bytes);
    std::string room(bytes.size(), '\0');
    const auto back = base64url_decode(text, room);
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == bytes);
}

TEST(Base64Url, RefusesWhatIsNotCanonical) {
    char room[64];
    for (const std::string_view text : {"A", "AAAAA", "AB==", "A+", "A/", "AB\n", "AB", "é"}) {
        EXPECT_FALSE(base64url_decode(text, room).has_value()) << text;
    }
    EXPECT_TRUE(base64url_decode("AA", room).has_value());
    EXPECT_FALSE(base64url_decode(std::string(400, 'A'), room).has_value()) << "does not fit";
}

RC_GTEST_PROP(HmacKey, SignsAsThePlainHmacDoes, (const std::string& secret, const std::string& bytes)) {
    RC_ASSERT(HmacKey(secret).sign(bytes) == hmac_sha256(secret, bytes));
}

TEST(HmacKey, TakesSecretsLongerThanABlock) {
    for (const size_t size : {63, 64, 65, 200}) {
        const std::string secret(size, 's');
        EXPECT_EQ(HmacKey(secret).sign("text"), hmac_sha256(secret, "text")) << size;
    }
}

RC_GTEST_PROP(Base64, ReadsBackWhatItWrote, (const std::string& bytes)) {
    const std::string text = base64(bytes);
    std::string room(bytes.size() + 2, '\0');
    const auto back = base64_decode(text, room);
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == bytes);
}

TEST(Base64, WritesPaddingAndWantsIt) {
    char room[64];
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("\xfb\xff\xbf"), "+/+/");
    for (const std::string_view text : {"Zg", "Zg=", "Zh==", "Zg===", "====", "Zm8=Zm8=", "-_-_", "Z=g="}) {
        EXPECT_FALSE(base64_decode(text, room).has_value()) << text;
    }
}

TEST(Crypto, ComparesWholeTexts) {
    EXPECT_TRUE(equal_in_constant_time("same", "same"));
    EXPECT_FALSE(equal_in_constant_time("same", "samf"));
    EXPECT_FALSE(equal_in_constant_time("same", "same "));
}

TEST(SeededHash, DependsOnEveryByteAndOnTheSeed) {
    const std::string text(40, 'x');
    for (size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = 'y';
        EXPECT_NE(seeded_hash(text, 1), seeded_hash(other, 1)) << i;
    }
    EXPECT_NE(seeded_hash(text, 1), seeded_hash(text, 2));
    EXPECT_NE(seeded_hash("", 1), seeded_hash(std::string_view("\0", 1), 1));
}

}  // namespace
}  // namespace doorbuster
