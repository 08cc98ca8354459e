// JWKS: the keys of a shop as it publishes them (RFC 7517).
//
// Usable are oct for HS256, EC on P-256 for ES256 and OKP on Ed25519 for EdDSA. A faulty one of these
// makes the whole set unusable, and the error names it: a key that was quietly left out would
// be noticed only by the buyers whose tokens it signed. Keys of other kinds, and those that are not for
// verifying ("use":"enc"), are passed over. Private members are not needed and not read.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "funnel/keys.hpp"

namespace doorbuster {

constexpr size_t jwks_bytes_max = 1024 * 1024;

// At least one key. The error is for the operator and holds no key material.
[[nodiscard]] Result<KeyRing, std::string> parse_jwks(std::string_view text);

}  // namespace doorbuster
