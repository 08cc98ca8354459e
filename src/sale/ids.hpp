// The names of things. Distinct types: none can be handed over as another.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/crypto.hpp"
#include "base/id128.hpp"
#include "base/text.hpp"

namespace doorbuster {

using SaleId = TextId<struct SaleTag, 64>;
using ItemId = TextId<struct ItemTag, 64>;
using BuyerId = TextId<struct BuyerTag, 128>;  // the shop's name for a buyer: the JWT's `sub`
using PurchaseId = Id128<struct PurchaseTag>;

enum class OrderId : int64_t {};

// Lower-case letters, digits and inner hyphens: safe in a path, a key and a file name.
bool is_slug(std::string_view text);

// The same key of the same buyer for the same item names the same purchase, on
// every thread and after every restart. The lengths keep the parts apart.
PurchaseId purchase_id_of(const SaleId& sale, const ItemId& item, const BuyerId& buyer, std::string_view key);

}  // namespace doorbuster
