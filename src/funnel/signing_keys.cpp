#include "funnel/signing_keys.hpp"

namespace doorbuster {

SigningKeys::Key SigningKeys::derive(std::string_view secret, std::string_view purpose) {
    CHECK(!secret.empty());
    const Digest key = hmac_sha256(secret, "doorbuster " + std::string(purpose) + " v1");
    const Digest name = sha256(bytes_of(key));
    return {.id = {name[0], name[1]}, .hmac = HmacKey(bytes_of(key))};
}

SigningKeys::SigningKeys(const Secrets& secrets, std::string_view purpose)
    : current_(derive(secrets.current, purpose)),
      previous_(secrets.previous.empty() ? std::nullopt : std::optional(derive(secrets.previous, purpose))) {}

SigningKeys SigningKeys::about(std::string_view thing) const {
    const auto of = [thing](const Key& key) {
        return Key{.id = key.id, .hmac = HmacKey(bytes_of(key.hmac.sign(thing)))};
    };
    return {of(current_), previous_ ? std::optional(of(*previous_)) : std::nullopt};
}

bool SigningKeys::verifies(const KeyId& id, std::string_view message, std::string_view mac) const {
    CHECK(mac.size() >= mac_bytes_min && mac.size() <= Digest{}.size());
    const auto matches = [&](const Key& key) {
        return key.id[0] == id[0] && key.id[1] == id[1] &&  // as a whole it would be a call
               equal_in_constant_time(bytes_of(key.hmac.sign(message)).substr(0, mac.size()), mac);
    };
    // An id is short: once in 65,536 rotations both keys have the same.
    return matches(current_) || (previous_ && matches(*previous_));
}

}  // namespace doorbuster
