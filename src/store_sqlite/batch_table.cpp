#include "store_sqlite/batch_table.hpp"

#include "base/check.hpp"

namespace doorbuster::sqlite {

namespace {

enum Column : int {
    purchase,
    sale,
    item,
    buyer,
    key_of_buyer,
    units,
    sequence,
    accepted_at_ms,
    position,
    order_id,
    amount_minor,
    currency,
    payment_window_ms,
    hold,
};

}  // namespace

void BatchTable::give(sqlite3_context* to, size_t row, int column) const {
    const Placement& placement = placements_[row];
    const Terms& terms = *terms_[row];
    const LedgerEntry& entry = *placement.record.entry;
    const Acceptance& acceptance = entry.acceptance;
    switch (column) {
        case purchase:
            give_blob(to, acceptance.purchase.bytes);
            break;
        case sale:
            give_text(to, entry.sale.view());
            break;
        case item:
            give_text(to, entry.item.view());
            break;
        case buyer:
            give_text(to, acceptance.buyer.view());
            break;
        case key_of_buyer:
            give_number(to, buyer_key(acceptance.buyer.view()));
            break;
        case units:
            give_number(to, static_cast<int64_t>(acceptance.units));
            break;
        case sequence:
            give_number(to, static_cast<int64_t>(acceptance.sequence));
            break;
        case accepted_at_ms:
            give_number(to, to_ms(acceptance.accepted_at));
            break;
        case position:
            give_number(to, static_cast<int64_t>(placement.record.position));
            break;
        case order_id:
            give_number(to, static_cast<int64_t>(placement.order));
            break;
        case amount_minor:
            give_number(to, terms.price_minor * static_cast<int64_t>(acceptance.units));
            break;
        case currency:
            give_text(to, terms.currency);
            break;
        case payment_window_ms:
            give_number(to, terms.payment_window_ms);
            break;
        case hold:
            give_text(to, terms.hold);
            break;
        default:
            break;
    }
}

void BatchTable::show(std::span<const Placement> placements, std::span<const Terms* const> terms) {
    CHECK(placements.size() == terms.size());
    placements_ = placements;
    terms_ = terms;
}

// FNV-1a, folded.
int64_t buyer_key(std::string_view buyer) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : buyer) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return static_cast<int32_t>(static_cast<uint32_t>(hash ^ (hash >> 32)));
}

}  // namespace doorbuster::sqlite
