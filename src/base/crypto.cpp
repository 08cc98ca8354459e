// The plain SHA-256 calls are deprecated in favour of EVP, which allocates and looks things
// up for every hash: more than the hash of a purchase id itself.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/crypto.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace doorbuster {

namespace {

const unsigned char* raw(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

// The two alphabets of RFC 4648; both ways.
struct Alphabet {
    std::string_view letters;
    std::array<int8_t, 256> values{};

    explicit constexpr Alphabet(std::string_view of) : letters(of) {
        values.fill(-1);
        for (size_t i = 0; i < of.size(); ++i) values[static_cast<uint8_t>(of[i])] = static_cast<int8_t>(i);
    }
};
constexpr Alphabet url_alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
constexpr Alphabet old_alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

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

// HMAC(key, m) = H(outer key | H(inner key | m)), RFC 2104.
HmacKey::HmacKey(std::string_view secret) {
    std::array<uint8_t, SHA256_CBLOCK> key{};
    if (secret.size() <= key.size()) {
        std::copy(secret.begin(), secret.end(), key.begin());
    } else {
        const Digest digest = sha256(secret);
        std::copy(digest.begin(), digest.end(), key.begin());
    }
    const auto begin = [&key](SHA256_CTX& hash, uint8_t pad) {
        std::array<uint8_t, SHA256_CBLOCK> padded;
        for (size_t i = 0; i < padded.size(); ++i) padded[i] = key[i] ^ pad;
        CHECK(SHA256_Init(&hash) == 1 && SHA256_Update(&hash, padded.data(), padded.size()) == 1);
    };
    begin(inner_, 0x36);
    begin(outer_, 0x5c);
}

Digest HmacKey::sign(std::string_view message) const {
    Digest digest;
    SHA256_CTX hash = inner_;
    CHECK(SHA256_Update(&hash, message.data(), message.size()) == 1 &&
          SHA256_Final(digest.data(), &hash) == 1);
    hash = outer_;
    CHECK(SHA256_Update(&hash, digest.data(), digest.size()) == 1 && SHA256_Final(digest.data(), &hash) == 1);
    return digest;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(std::span<uint8_t> bytes) {
    CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
}

uint64_t random_seed() {
    std::array<uint8_t, sizeof(uint64_t)> bytes;
    fill_random(bytes);
    return std::bit_cast<uint64_t>(bytes);
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

std::array<char, 64> hex_of(const Digest& digest) {
    static constexpr char digits[] = "0123456789abcdef";
    std::array<char, 64> text;
    for (size_t i = 0; i < digest.size(); ++i) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    return text;
}

namespace {

std::string encode(std::string_view bytes, const Alphabet& alphabet) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    uint32_t window = 0;
    int bits = 0;
    for (const char c : bytes) {
        window = window << 8 | static_cast<uint8_t>(c);
        for (bits += 8; bits >= 6;) {
            bits -= 6;
            text += alphabet.letters[window >> bits & 63];
        }
    }
    if (bits > 0) text += alphabet.letters[window << (6 - bits) & 63];
    return text;
}

std::optional<std::string_view> decode(std::string_view text, std::span<char> into,
                                       const Alphabet& alphabet) {
    const size_t size = text.size() * 3 / 4;
    if (text.size() % 4 == 1 || size > into.size()) return std::nullopt;
    const auto value_of = [&](char c) { return int32_t{alphabet.values[static_cast<uint8_t>(c)]}; };
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

}  // namespace

std::string base64url(std::string_view bytes) {
    return encode(bytes, url_alphabet);
}

std::optional<std::string_view> base64url_decode(std::string_view text, std::span<char> into) {
    return decode(text, into, url_alphabet);
}

std::string base64(std::string_view bytes) {
    std::string text = encode(bytes, old_alphabet);
    while (text.size() % 4 != 0) text += '=';
    return text;
}

std::optional<std::string_view> base64_decode(std::string_view text, std::span<char> into) {
    if (text.size() % 4 != 0) return std::nullopt;
    // At most two, so that four characters always hold a byte at least.
    for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
    return decode(text, into, old_alphabet);
}

}  // namespace doorbuster
