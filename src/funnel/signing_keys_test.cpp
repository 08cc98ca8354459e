#include "funnel/signing_keys.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

const std::string old_secret(32, 'o'), new_secret(32, 'n');

bool verifies(const SigningKeys& keys, const SigningKeys& signer, std::string_view message) {
    const Digest mac = signer.sign(message);
    return keys.verifies(signer.current_id(), message, bytes_of(mac).substr(0, 16));
}

TEST(SigningKeys, VerifyWhatTheySigned) {
    const SigningKeys keys({.current = new_secret}, "token");
    EXPECT_TRUE(verifies(keys, keys, "yes"));
    const Digest mac = keys.sign("yes");
    EXPECT_FALSE(keys.verifies(keys.current_id(), "no", bytes_of(mac)));
}

TEST(SigningKeys, APreviousSecretStillVerifiesAndNoLongerSigns) {
    const SigningKeys before({.current = old_secret}, "token");
    const SigningKeys during({.current = new_secret, .previous = old_secret}, "token");
    const SigningKeys after({.current = new_secret}, "token");
    EXPECT_TRUE(verifies(during, before, "yes"));
    EXPECT_TRUE(verifies(after, during, "yes"));
    EXPECT_FALSE(verifies(after, before, "yes"));
    EXPECT_EQ(during.current_id(), after.current_id());
}

TEST(SigningKeys, APurposeDoesNotVerifyAnothers) {
    const SigningKeys tokens({.current = new_secret}, "token"), checks({.current = new_secret}, "check");
    const Digest mac = checks.sign("yes");
    EXPECT_FALSE(tokens.verifies(tokens.current_id(), "yes", bytes_of(mac)));
    EXPECT_FALSE(tokens.verifies(checks.current_id(), "yes", bytes_of(mac)));
}

TEST(SigningKeys, TheNamedKeyMustBeTheOneThatSigned) {
    const SigningKeys keys({.current = new_secret}, "token");
    const Digest mac = keys.sign("yes");
    SigningKeys::KeyId other = keys.current_id();
    other[1] ^= 1;
    EXPECT_FALSE(keys.verifies(other, "yes", bytes_of(mac)));
}

}  // namespace
}  // namespace doorbuster
