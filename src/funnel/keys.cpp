#include "funnel/keys.hpp"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr auto failed = boost::system::in_place_error;
constexpr size_t p256_bytes = 32, ed25519_bytes = 32, signature_bytes = 64;

template <auto Free>
struct FreeWith {
    template <class T>
    void operator()(T* thing) const {
        Free(thing);
    }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, FreeWith<Free>>;

const unsigned char* raw(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

// A token carries r and s side by side (RFC 7518, 3.4), OpenSSL wants them in DER.
std::optional<std::string> der_of(std::string_view r_and_s) {
    if (r_and_s.size() != signature_bytes) return std::nullopt;
    const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(ECDSA_SIG_new());
    BIGNUM* r = BN_bin2bn(raw(r_and_s), signature_bytes / 2, nullptr);
    BIGNUM* s = BN_bin2bn(raw(r_and_s) + signature_bytes / 2, signature_bytes / 2, nullptr);
    CHECK(pair && ECDSA_SIG_set0(pair.get(), r, s) == 1);  // owns both from here
    std::array<unsigned char, signature_bytes + 16> der;
    CHECK(i2d_ECDSA_SIG(pair.get(), nullptr) <= static_cast<int>(der.size()));
    unsigned char* end = der.data();
    const int size = i2d_ECDSA_SIG(pair.get(), &end);
    CHECK(size > 0);
    return std::string(reinterpret_cast<const char*>(der.data()), static_cast<size_t>(size));
}

bool signed_by(EVP_PKEY* key, const EVP_MD* digest, std::string_view message, std::string_view signature) {
    const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
    CHECK(context && EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1);
    const bool valid =
        EVP_DigestVerify(context.get(), raw(signature), signature.size(), raw(message), message.size()) == 1;
    // What a client sent must not be found later by whoever asks OpenSSL what went wrong.
    if (!valid) ERR_clear_error();
    return valid;
}

}  // namespace

std::optional<KeyAlgorithm> key_algorithm_from(std::string_view name) {
    if (name == "HS256") return KeyAlgorithm::hs256;
    if (name == "ES256") return KeyAlgorithm::es256;
    if (name == "EdDSA") return KeyAlgorithm::eddsa;
    return std::nullopt;
}

std::string_view name_of(KeyAlgorithm algorithm) {
    switch (algorithm) {
        case KeyAlgorithm::hs256:
            return "HS256";
        case KeyAlgorithm::es256:
            return "ES256";
        case KeyAlgorithm::eddsa:
            return "EdDSA";
    }
    CHECK(false);
    return {};
}

Result<Key, std::string> Key::hs256(std::string_view kid, std::string_view secret) {
    using Made = Result<Key, std::string>;
    if (secret.size() < secret_bytes_min) {
        return Made(failed, fmt::format("the secret is shorter than {} bytes", secret_bytes_min));
    }
    if (secret.size() > secret_bytes_max) {
        return Made(failed, fmt::format("the secret is longer than {} bytes", secret_bytes_max));
    }
    // A public key is known to everybody: as a secret it would let anybody sign.
    if (secret.starts_with("-----BEGIN ")) return Made(failed, "a PEM file is not a secret");
    return Key(kid, KeyAlgorithm::hs256, HmacKey(secret));
}

Result<Key, std::string> Key::es256(std::string_view kid, const P256Point& point) {
    using Made = Result<Key, std::string>;
    if (point.x.size() != p256_bytes || point.y.size() != p256_bytes) {
        return Made(failed, fmt::format("x and y must have {} bytes each", p256_bytes));
    }
    std::string uncompressed = "\x04";
    uncompressed.append(point.x).append(point.y);
    std::string curve = "prime256v1";
    const std::array<OSSL_PARAM, 3> parameters = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, curve.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, uncompressed.data(), uncompressed.size()),
        OSSL_PARAM_construct_end()};
    const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
    CHECK(context && EVP_PKEY_fromdata_init(context.get()) == 1);
    EVP_PKEY* made = nullptr;
    const bool on_curve = EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY,
                                            const_cast<OSSL_PARAM*>(parameters.data())) == 1;
    PublicKey key(made, EVP_PKEY_free);
    if (!on_curve) {
        ERR_clear_error();
        return Made(failed, "x and y are no point of P-256");
    }
    return Key(kid, KeyAlgorithm::es256, std::move(key));
}

Result<Key, std::string> Key::eddsa(std::string_view kid, std::string_view public_key) {
    using Made = Result<Key, std::string>;
    if (public_key.size() != ed25519_bytes) {
        return Made(failed, fmt::format("x must have {} bytes", ed25519_bytes));
    }
    PublicKey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(public_key), public_key.size()),
                  EVP_PKEY_free);
    CHECK(key != nullptr);
    return Key(kid, KeyAlgorithm::eddsa, std::move(key));
}

bool Key::verifies(std::string_view message, std::string_view signature) const {
    switch (algorithm_) {
        case KeyAlgorithm::hs256:
            return equal_in_constant_time(signature, bytes_of(std::get<HmacKey>(material_).sign(message)));
        case KeyAlgorithm::es256: {
            const auto der = der_of(signature);
            return der && signed_by(std::get<PublicKey>(material_).get(), EVP_sha256(), message, *der);
        }
        case KeyAlgorithm::eddsa:
            return signature.size() == signature_bytes &&
                   signed_by(std::get<PublicKey>(material_).get(), nullptr, message, signature);
    }
    CHECK(false);
    return false;
}

std::optional<Digest> Key::sign(std::string_view message) const {
    const auto* secret = std::get_if<HmacKey>(&material_);
    if (secret == nullptr) return std::nullopt;
    return secret->sign(message);
}

Result<KeyRing, std::string> KeyRing::of(std::vector<Key> keys) {
    using Made = Result<KeyRing, std::string>;
    if (keys.size() > keys_max) return Made(failed, fmt::format("there are more than {} keys", keys_max));
    KeyRing ring;
    ring.keys_ = std::move(keys);
    std::array<int8_t, key_algorithms> nameless{no_key, no_key, no_key};
    for (size_t i = 0; i < ring.keys_.size(); ++i) {
        const Key& key = ring.keys_[i];
        const auto algorithm = static_cast<size_t>(key.algorithm());
        int8_t& only = ring.unnamed_[algorithm];
        only = only == no_key ? static_cast<int8_t>(i) : several_keys;
        if (key.kid().empty()) {
            if (nameless[algorithm] != no_key) {
                return Made(failed, fmt::format("two keys for {} have no kid: no token could choose one",
                                                name_of(key.algorithm())));
            }
            nameless[algorithm] = static_cast<int8_t>(i);
            continue;
        }
        for (size_t before = 0; before < i; ++before) {
            if (ring.keys_[before].kid() == key.kid()) {
                return Made(failed, fmt::format("two keys have the kid \"{}\"", key.kid()));
            }
        }
    }
    for (size_t i = 0; i < key_algorithms; ++i) {
        if (nameless[i] != no_key) ring.unnamed_[i] = nameless[i];
    }
    return ring;
}

Result<KeyRing, std::string> KeyRing::joined_with(const KeyRing& other) const {
    std::vector<Key> all = keys_;
    all.insert(all.end(), other.keys_.begin(), other.keys_.end());
    return of(std::move(all));
}

Result<const Key*, KeyRing::Miss> KeyRing::choose(KeyAlgorithm said,
                                                  std::optional<std::string_view> kid) const {
    if (!kid) {
        const int8_t at = unnamed_[static_cast<size_t>(said)];
        if (at == several_keys) return Miss::unknown;
        if (at == no_key) return Miss::wrong_algorithm;
        return &keys_[static_cast<size_t>(at)];
    }
    if (kid->empty()) return Miss::unknown;
    for (const Key& key : keys_) {
        if (key.kid() != *kid) continue;
        if (key.algorithm() != said) return Miss::wrong_algorithm;
        return &key;
    }
    return Miss::unknown;
}

}  // namespace doorbuster
