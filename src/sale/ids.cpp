#include "sale/ids.hpp"

#include <array>
#include <cstring>

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
    // Bound: the ids' own bounds, and 255 bytes of key.
    std::array<char, SaleId::bytes_max + ItemId::bytes_max + BuyerId::bytes_max + 4 + 255> bytes;
    size_t used = 0;
    auto add = [&](std::string_view part) {
        bytes[used++] = static_cast<char>(part.size());
        std::memcpy(bytes.data() + used, part.data(), part.size());
        used += part.size();
    };
    add(sale.view());
    add(item.view());
    add(buyer.view());
    CHECK(key.size() <= 255);
    add(key);
    const Digest digest = sha256({bytes.data(), used});
    PurchaseId id;
    std::memcpy(id.bytes.data(), digest.data(), id.bytes.size());
    return id;
}

}  // namespace doorbuster
