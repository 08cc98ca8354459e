// The plain SHA-256 calls are deprecated in favour of EVP, which allocates and looks things
// up for every hash: more than the hash of a purchase id itself.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/crypto.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace doorbuster {

namespace {

const unsigned char* raw(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<int8_t, 256> reverse_alphabet = [] {
    std::array<int8_t, 256> table{};
    table.fill(-1);
    for (size_t i = 0; i < alphabet.size(); ++i) {
        table[static_cast<uint8_t>(alphabet[i])] = static_cast<int8_t>(i);
    }
    return table;
}();

// Looked up once: fetching an algorithm by name on each call takes a lock.
const EVP_MD* sha256_algorithm() {
    static const EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

}  // namespace

Digest sha256(std::string_view bytes) {
    Digest digest;
    SHA256_CTX hash;
    CHECK(SHA256_Init(&hash) == 1 && SHA256_Update(&hash, bytes.data(), bytes.size()) == 1 &&
          SHA256_Final(digest.data(), &hash) == 1);
    return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
    Digest digest;
    unsigned size = 0;
    CHECK(HMAC(sha256_algorithm(), key.data(), static_cast<int>(key.size()), raw(bytes), bytes.size(),
               digest.data(), &size) != nullptr);
    CHECK(size == digest.size());
    return digest;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(std::span<uint8_t> bytes) {
    CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
}

std::string random_secret(size_t bytes) {
    std::string secret(bytes, '\0');
    fill_random({reinterpret_cast<uint8_t*>(secret.data()), secret.size()});
    return base64url(secret);
}

uint64_t process_hash_seed() {
    static const uint64_t seed = [] {
        std::array<uint8_t, 8> bytes;
        fill_random(bytes);
        uint64_t value;
        std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }();
    return seed;
}

std::string base64url(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    uint32_t window = 0;
    int bits = 0;
    for (const char c : bytes) {
        window = window << 8 | static_cast<uint8_t>(c);
        for (bits += 8; bits >= 6;) {
            bits -= 6;
            text += alphabet[window >> bits & 63];
        }
    }
    if (bits > 0) text += alphabet[window << (6 - bits) & 63];
    return text;
}

std::optional<std::string_view> base64url_decode(std::string_view text, std::span<char> into) {
    const size_t size = text.size() * 3 / 4;
    if (text.size() % 4 == 1 || size > into.size()) return std::nullopt;
    const auto value_of = [](char c) { return int32_t{reverse_alphabet[static_cast<uint8_t>(c)]}; };
    size_t at = 0;
    // Four characters are three bytes; a foreign one makes the sign show.
    for (; text.size() >= 4; text.remove_prefix(4)) {
        const int32_t a = value_of(text[0]), b = value_of(text[1]), c = value_of(text[2]),
                      d = value_of(text[3]);
        if ((a | b | c | d) < 0) return std::nullopt;
        const auto group = static_cast<uint32_t>(a << 18 | b << 12 | c << 6 | d);
        into[at++] = static_cast<char>(group >> 16 & 255);
        into[at++] = static_cast<char>(group >> 8 & 255);
        into[at++] = static_cast<char>(group & 255);
    }
    uint32_t window = 0;
    int bits = 0;
    for (const char c : text) {
        const int32_t value = value_of(c);
        if (value < 0) return std::nullopt;
        window = window << 6 | static_cast<uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            into[at++] = static_cast<char>(window >> bits & 255);
        }
    }
    if ((window & ((1u << bits) - 1)) != 0) return std::nullopt;
    return std::string_view(into.data(), at);
}

}  // namespace doorbuster
