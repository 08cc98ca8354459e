#include "funnel/keys.hpp"

#include <gtest/gtest.h>

#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using testing::ShopKey;

std::string decoded(std::string_view text) {
    std::string bytes(text.size(), '\0');
    const auto used = base64url_decode(text, bytes);
    CHECK(used.has_value());
    return std::string(*used);
}

bool verifies(const Key& key, std::string_view token) {
    const size_t dot = token.rfind('.');
    return key.verifies(token.substr(0, dot), decoded(token.substr(dot + 1)));
}

TEST(Key, VerifiesTheHs256ExampleOfRfc7515) {
    const auto key = Key::hs256("", decoded("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0i"
                                            "PS4hcgUuTwjAzZr1Z9CAow"));
    EXPECT_TRUE(verifies(*key,
                         "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkz"
                         "ODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
                         "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
}

TEST(Key, VerifiesTheEs256ExampleOfRfc7515) {
    const auto key = Key::es256("", {.x = decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                                     .y = decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")});
    EXPECT_TRUE(verifies(*key,
                         "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9l"
                         "eGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
                         "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg"
                         "6NU1Q"));
}

TEST(Key, VerifiesTheEdDsaExampleOfRfc8037) {
    const auto key = Key::eddsa("", decoded("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"));
    EXPECT_TRUE(verifies(*key,
                         "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
                         "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_Mu"
                         "M0KAg"));
}

TEST(Key, RefusesEveryOtherMessageAndSignature) {
    for (const auto algorithm : {KeyAlgorithm::hs256, KeyAlgorithm::es256, KeyAlgorithm::eddsa}) {
        SCOPED_TRACE(name_of(algorithm));
        const ShopKey shop(algorithm, "k"), other(algorithm, "k");
        const auto ring = testing::ring_of({shop});
        const Key& key = ring->keys().front();
        const std::string good = shop.sign("message");
        EXPECT_TRUE(key.verifies("message", good));
        EXPECT_FALSE(key.verifies("massage", good));
        EXPECT_FALSE(key.verifies("message", other.sign("message")));
        EXPECT_FALSE(key.verifies("message", std::string(64, '\0')));
        for (size_t i = 0; i < good.size(); ++i) {
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ 1);
            EXPECT_FALSE(key.verifies("message", bad)) << "byte " << i;
        }
        for (const std::string& wrong_size : {std::string(), good.substr(1), good + "x", good + good}) {
            EXPECT_FALSE(key.verifies("message", wrong_size)) << wrong_size.size() << " bytes";
        }
    }
}

TEST(Key, OnlyASecretSigns) {
    EXPECT_TRUE(testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")})->keys().front().sign("m").has_value());
    EXPECT_FALSE(testing::ring_of({ShopKey(KeyAlgorithm::es256, "")})->keys().front().sign("m").has_value());
}

TEST(Key, RefusesMaterialThatWouldNotProtect) {
    EXPECT_TRUE(Key::hs256("", std::string(32, 's')).has_value());
    EXPECT_FALSE(Key::hs256("", std::string(31, 's')).has_value());
    EXPECT_FALSE(Key::hs256("", std::string(4097, 's')).has_value());
    EXPECT_FALSE(Key::hs256("", "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZI").has_value());
    const std::string ones(32, '\1');
    EXPECT_FALSE(Key::es256("", {.x = ones, .y = ones}).has_value()) << "not on the curve";
    EXPECT_FALSE(Key::es256("", {.x = ones, .y = ""}).has_value());
    EXPECT_FALSE(Key::eddsa("", std::string(31, 'x')).has_value());
}

class Choosing : public ::testing::Test {
protected:
    using Miss = KeyRing::Miss;

    static KeyRing ring(std::initializer_list<std::pair<KeyAlgorithm, std::string>> wanted) {
        std::vector<Key> keys;
        for (const auto& [algorithm, kid] : wanted) {
            const auto one = testing::ring_of({ShopKey(algorithm, kid)});
            keys.push_back(one->keys().front());
        }
        return *KeyRing::of(std::move(keys));
    }

    // Not `error()` itself, which a key that was found has too.
    static std::optional<Miss> miss(const KeyRing& keys, KeyAlgorithm said,
                                    std::optional<std::string_view> kid) {
        const auto key = keys.choose(said, kid);
        return key ? std::nullopt : std::optional(key.error());
    }

    static constexpr auto hs256 = KeyAlgorithm::hs256, es256 = KeyAlgorithm::es256,
                          eddsa = KeyAlgorithm::eddsa;
};

TEST_F(Choosing, TakesExactlyTheKeyThatIsNamed) {
    const KeyRing keys = ring({{es256, "a"}, {es256, "b"}, {hs256, ""}});
    EXPECT_EQ(*keys.choose(es256, "b"), &keys.keys()[1]);
    EXPECT_EQ(miss(keys, es256, "c"), Miss::unknown);
    EXPECT_EQ(miss(keys, es256, "A"), Miss::unknown);
    EXPECT_EQ(miss(keys, es256, "ab"), Miss::unknown);
    EXPECT_EQ(miss(keys, hs256, ""), Miss::unknown) << "an empty name is no name";
}

TEST_F(Choosing, NeverTakesAKeyForAnotherAlgorithm) {
    const KeyRing keys = ring({{es256, "a"}});
    EXPECT_EQ(miss(keys, hs256, "a"), Miss::wrong_algorithm);
    EXPECT_EQ(miss(keys, eddsa, "a"), Miss::wrong_algorithm);
    EXPECT_EQ(miss(keys, hs256, std::nullopt), Miss::wrong_algorithm);
}

TEST_F(Choosing, WithoutANameTakesTheOnlyKeyOrTheOneWithoutAName) {
    const KeyRing keys = ring({{es256, "a"}, {hs256, "b"}, {hs256, ""}, {eddsa, "c"}, {eddsa, "d"}});
    EXPECT_EQ(*keys.choose(es256, std::nullopt), &keys.keys()[0]);
    EXPECT_EQ(*keys.choose(hs256, std::nullopt), &keys.keys()[2]);
    EXPECT_EQ(miss(keys, eddsa, std::nullopt), Miss::unknown) << "keys are never tried in turn";
    EXPECT_EQ(miss(KeyRing(), hs256, std::nullopt), Miss::wrong_algorithm);
}

TEST_F(Choosing, RefusesKeysThatNoTokenCouldTellApart) {
    const KeyRing named = ring({{es256, "a"}}), same_name = ring({{eddsa, "a"}}),
                  nameless = ring({{hs256, ""}});
    EXPECT_EQ(named.joined_with(same_name).error(), "two keys have the kid \"a\"");
    EXPECT_EQ(nameless.joined_with(nameless).error(),
              "two keys for HS256 have no kid: no token could choose one");
    EXPECT_EQ(named.joined_with(nameless)->keys().size(), 2u);
}

TEST_F(Choosing, HoldsAtMostSixtyFourKeys) {
    KeyRing keys;
    for (size_t i = 0; i < KeyRing::keys_max; ++i) {
        keys = *keys.joined_with(ring({{hs256, std::to_string(i)}}));
    }
    EXPECT_EQ(keys.joined_with(ring({{hs256, "more"}})).error(), "there are more than 64 keys");
}

}  // namespace
}  // namespace doorbuster
