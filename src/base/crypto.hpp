// The few cryptographic pieces that the product needs, over OpenSSL.
#pragma once

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

// Takes the same time wherever the first difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// From the operating system; stops the process if it has none.
void fill_random(std::span<uint8_t> bytes);

// A fresh secret of `bytes` random bytes, base64url.
std::string random_secret(size_t bytes);

std::string base64url(std::string_view bytes);

// Strict: no padding, no foreign characters, no stray bits in the last one.
// Writes into `into` and returns the part used; nothing if it does not fit.
std::optional<std::string_view> base64url_decode(std::string_view text, std::span<char> into);

}  // namespace doorbuster
