// The few cryptographic pieces that the product needs, over OpenSSL.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace doorbuster {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

// A key for many HMAC-SHA256: both hashes are kept with the key already in them, so that
// signing goes on from there and looks nothing up.
//
// Thread safety: const calls from any thread.
class HmacKey {
public:
    explicit HmacKey(std::string_view secret);

    [[nodiscard]] Digest sign(std::string_view message) const;

private:
    SHA256_CTX inner_, outer_;
};

// A digest as the bytes that are compared, encoded and signed again.
inline std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Takes the same time wherever the first difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// From the operating system; stops the process if it has none.
void fill_random(std::span<uint8_t> bytes);
// For a generator whose numbers need not be secret.
uint64_t random_seed();

// A fresh secret of `bytes` random bytes, base64url.
std::string random_secret(size_t bytes);

std::string base64url(std::string_view bytes);

// Strict: no padding, no foreign characters, no stray bits in the last one.
// Writes into `into` and returns the part used; nothing if it does not fit.
std::optional<std::string_view> base64url_decode(std::string_view text, std::span<char> into);

// The older alphabet, with padding: what browsers and data URIs speak. As strict.
std::string base64(std::string_view bytes);
std::optional<std::string_view> base64_decode(std::string_view text, std::span<char> into);

// The digest's text form: lower-case hexadecimal.
std::array<char, 64> hex_of(const Digest&);

}  // namespace doorbuster
