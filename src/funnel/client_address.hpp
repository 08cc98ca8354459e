// Whose address counts: the connection's, or the one a proxy vouches for.
//
// Anyone can write X-Forwarded-For. Each proxy adds the address that it saw at the right end,
// so only what stands to the right of the last trusted hop is known to be true.
//
// Thread safety: a pure function, without allocation.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/address.hpp"

namespace doorbuster {

// Hops looked at, from the right; a longer chain counts as its last trusted hop looked at.
constexpr size_t forwarded_hops_max = 32;

// The peer, unless it is trusted; then the first hop from the right that is not trusted. A hop
// that cannot be read ends the walk: the trusted hop to its right counts.
// `x_forwarded_for` has the field's lines as they came; several lines are one list.
[[nodiscard]] Address client_address(const Address& peer, std::span<const std::string_view> x_forwarded_for,
                                     const AddressSet& trusted_proxies);

}  // namespace doorbuster
