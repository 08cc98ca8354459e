// For tests: a shop that signs tokens with keys of every kind.
#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/crypto.hpp"
#include "funnel/jwks.hpp"
#include "funnel/keys.hpp"

namespace doorbuster::testing {

// A fresh key pair (or secret), its public half as a JWK, and tokens signed with it.
class ShopKey {
public:
    ShopKey(KeyAlgorithm algorithm, std::string kid) : algorithm_(algorithm), kid_(std::move(kid)) {
        if (algorithm == KeyAlgorithm::hs256) secret_ = random_secret(32);
        if (algorithm == KeyAlgorithm::es256) pair_ = {EVP_EC_gen("P-256"), EVP_PKEY_free};
        if (algorithm == KeyAlgorithm::eddsa) {
            pair_ = {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free};
        }
    }

    std::string jwk() const {
        const std::string name = kid_.empty() ? "" : R"("kid":")" + kid_ + "\",";
        if (algorithm_ == KeyAlgorithm::hs256) {
            return "{" + name + R"("kty":"oct","alg":"HS256","k":")" + base64url(secret_) + "\"}";
        }
        if (algorithm_ == KeyAlgorithm::es256) {
            return "{" + name + R"("kty":"EC","crv":"P-256","x":")" +
                   base64url(public_bytes().substr(1, 32)) + R"(","y":")" +
                   base64url(public_bytes().substr(33)) + "\"}";
        }
        return "{" + name + R"("kty":"OKP","crv":"Ed25519","x":")" + base64url(public_bytes()) + "\"}";
    }

    // What an attacker knows of it: the uncompressed point, or the 32 bytes of Ed25519.
    std::string public_bytes() const {
        std::array<unsigned char, 65> bytes;
        size_t size = bytes.size();
        if (algorithm_ == KeyAlgorithm::es256) {
            CHECK(EVP_PKEY_get_octet_string_param(pair_.get(), OSSL_PKEY_PARAM_PUB_KEY, bytes.data(),
                                                  bytes.size(), &size) == 1);
        } else {
            CHECK(EVP_PKEY_get_raw_public_key(pair_.get(), bytes.data(), &size) == 1);
        }
        return {reinterpret_cast<const char*>(bytes.data()), size};
    }

    std::string header() const {
        const std::string name = kid_.empty() ? "" : R"(,"kid":")" + kid_ + "\"";
        return R"({"typ":"JWT","alg":")" + std::string(name_of(algorithm_)) + "\"" + name + "}";
    }

    std::string token(std::string_view payload) const { return token(header(), payload); }
    std::string token(std::string_view said_header, std::string_view payload) const {
        const std::string text = base64url(said_header) + "." + base64url(payload);
        return text + "." + base64url(sign(text));
    }

    std::string sign(std::string_view text) const {
        if (algorithm_ == KeyAlgorithm::hs256) return std::string(bytes_of(hmac_sha256(secret_, text)));
        const bool is_ec = algorithm_ == KeyAlgorithm::es256;
        const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                              EVP_MD_CTX_free);
        std::array<unsigned char, 80> bytes;
        size_t size = bytes.size();
        CHECK(EVP_DigestSignInit(context.get(), nullptr, is_ec ? EVP_sha256() : nullptr, nullptr,
                                 pair_.get()) == 1);
        CHECK(EVP_DigestSign(context.get(), bytes.data(), &size,
                             reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1);
        return is_ec ? r_and_s(bytes.data(), size)
                     : std::string(reinterpret_cast<const char*>(bytes.data()), size);
    }

private:
    static std::string r_and_s(const unsigned char* der, size_t size) {
        ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(size));
        std::array<unsigned char, 64> bytes;
        CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(pair), bytes.data(), 32) == 32);
        CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(pair), bytes.data() + 32, 32) == 32);
        ECDSA_SIG_free(pair);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    KeyAlgorithm algorithm_;
    std::string kid_;
    std::string secret_;
    std::shared_ptr<EVP_PKEY> pair_;
};

// As a shop publishes them.
inline std::shared_ptr<const KeyRing> ring_of(std::initializer_list<ShopKey> keys) {
    std::string set;
    for (const ShopKey& key : keys) set += (set.empty() ? "" : ",") + key.jwk();
    auto ring = parse_jwks(R"({"keys":[)" + set + "]}");
    CHECK(ring.has_value());
    return std::make_shared<const KeyRing>(*std::move(ring));
}

}  // namespace doorbuster::testing
