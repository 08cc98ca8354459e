// KeyRing: the keys that buyers' tokens are verified with.
//
// A key is pinned to one algorithm when it is loaded: what a token says about its own
// algorithm is compared with the key's, never obeyed, so that nobody can pass off a public
// key as an HMAC secret. A token's `kid` is only ever compared with the names of the keys that
// are here: nothing is opened, queried or fetched for it.
//
// Thread safety: const calls from any thread; a ring never changes. Other keys are another ring.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/crypto.hpp"
#include "base/result.hpp"

namespace doorbuster {

enum class KeyAlgorithm : uint8_t { hs256, es256, eddsa };
constexpr size_t key_algorithms = 3;

// As a token's `alg` writes it: HS256, ES256, EdDSA. Nothing for any other.
[[nodiscard]] std::optional<KeyAlgorithm> key_algorithm_from(std::string_view name);
[[nodiscard]] std::string_view name_of(KeyAlgorithm algorithm);

class Key {
public:
    static constexpr size_t kid_bytes_max = 128;
    static constexpr size_t secret_bytes_min = 32;  // RFC 7518, 3.2: no shorter than the digest
    static constexpr size_t secret_bytes_max = 4096;

    struct P256Point {
        std::string_view x, y;  // 32 bytes each, big-endian
    };

    // `kid` may be empty: a key without a name. The error says what is wrong with the material,
    // and never repeats it.
    [[nodiscard]] static Result<Key, std::string> hs256(std::string_view kid, std::string_view secret);
    [[nodiscard]] static Result<Key, std::string> es256(std::string_view kid, const P256Point& point);
    [[nodiscard]] static Result<Key, std::string> eddsa(std::string_view kid, std::string_view public_key);

    const std::string& kid() const { return kid_; }
    KeyAlgorithm algorithm() const { return algorithm_; }

    // Whether this key signed `message`. HS256 neither allocates nor locks; the others do inside
    // OpenSSL, at about a hundred times its cost.
    [[nodiscard]] bool verifies(std::string_view message, std::string_view signature) const;

    // Nothing for a public key.
    [[nodiscard]] std::optional<Digest> sign(std::string_view message) const;

private:
    using PublicKey = std::shared_ptr<EVP_PKEY>;

    Key(std::string_view kid, KeyAlgorithm algorithm, std::variant<HmacKey, PublicKey> material)
        : kid_(kid), algorithm_(algorithm), material_(std::move(material)) {}

    std::string kid_;
    KeyAlgorithm algorithm_;
    std::variant<HmacKey, PublicKey> material_;
};

class KeyRing {
public:
    static constexpr size_t keys_max = 64;

    enum class Miss : uint8_t {
        unknown,          // no key of that name, or more than one that the token could mean
        wrong_algorithm,  // the key is there, but pinned to another algorithm
    };

    KeyRing() = default;

    // Refuses more than `keys_max` keys, and two that no token could tell apart: the same name
    // twice, or two of one algorithm without a name.
    [[nodiscard]] static Result<KeyRing, std::string> of(std::vector<Key> keys);

    // The keys of both.
    [[nodiscard]] Result<KeyRing, std::string> joined_with(const KeyRing& other) const;

    // The one key that a token may be verified with; keys are never tried in turn.
    // With a name: the key of exactly that name. Without one (`kid` is nothing): the key without
    // a name, or else the only key of that algorithm.
    [[nodiscard]] Result<const Key*, Miss> choose(KeyAlgorithm said,
                                                  std::optional<std::string_view> kid) const;

    const std::vector<Key>& keys() const { return keys_; }
    bool empty() const { return keys_.empty(); }

private:
    static constexpr int8_t no_key = -1, several_keys = -2;

    std::vector<Key> keys_;
    // Which key a token without a name means, by algorithm.
    std::array<int8_t, key_algorithms> unnamed_{no_key, no_key, no_key};
};

}  // namespace doorbuster
