#include "sale/ids.hpp"

#include <cstring>

#include "base/parts.hpp"

namespace doorbuster {

bool is_slug(std::string_view text) {
    if (text.empty() || text.front() == '-' || text.back() == '-') return false;
    for (const char c : text) {
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
    }
    return true;
}

PurchaseId purchase_id_of(const SaleId& sale, const ItemId& item, const BuyerId& buyer,
                          std::string_view key) {
    const Digest digest =
        sha256(Parts().text(sale.view()).text(item.view()).text(buyer.view()).text(key).view());
    PurchaseId id;
    std::memcpy(id.bytes.data(), digest.data(), id.bytes.size());
    return id;
}

}  // namespace doorbuster
