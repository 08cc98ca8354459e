// PurchaseTokens: a passed human check, turned into the right to one purchase.
//
// A token is a signed statement: this buyer may buy this item of this sale as this purchase until
// then. The purchase id in it is the idempotency key, so a used token needs no store: replaying
// it finds its own purchase.
//
//   base64url( version | key id 2 bytes | issued_at_ms 8 | expires_at_ms 8 | purchase 16 | mac 16 )
//
// Sale, item and buyer are not in the text; the signature covers them, so a token opens only for
// those it was made for. Sale and item are in the key (ItemTokens), so that a name of theirs costs nothing at
// each purchase.
//
// The purchase id follows from the check that was passed (see purchase_of_check). What burned
// checks is lost at a restart; the same check would then give the same purchase again, never a
// second one of the same item.
//
// Thread safety: const calls from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "funnel/signing_keys.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

enum class TokenFault : uint8_t {
    malformed,
    foreign,  // not signed by us, or for another sale, item or buyer
    expired,
    future_dated,
};

// Whom a passed check is for.
struct TokenScope {
    const SaleId& sale;
    const ItemId& item;
    const BuyerId& buyer;
};

// Those of one item of one sale.
class ItemTokens {
public:
    static constexpr size_t text_size = 68;
    static constexpr std::chrono::seconds skew_max{30};  // between the clocks of two servers

    explicit ItemTokens(const SigningKeys& keys) : keys_(keys) {}

    struct Validity {
        Instant issued_at, expires_at;
    };
    [[nodiscard]] std::string mint(const PurchaseId&, const BuyerId&, const Validity&) const;

    // Allocates nothing.
    [[nodiscard]] Result<PurchaseId, TokenFault> open(std::string_view text, const BuyerId&,
                                                      Instant now) const;

    // The purchase that the token names, whatever the time: a winner who repeats after the token
    // has expired must still find what it won. Never lets anybody take a unit.
    [[nodiscard]] std::optional<PurchaseId> named_purchase(std::string_view text, const BuyerId&) const;

private:
    struct Opened {
        PurchaseId purchase;
        Validity validity;
    };
    Result<Opened, TokenFault> verify(std::string_view text, const BuyerId&) const;

    SigningKeys keys_;
};

class PurchaseTokens {
public:
    explicit PurchaseTokens(const SigningKeys::Secrets& secrets) : keys_(secrets, "purchase token") {}

    // Costs as much as opening some: for whoever opens many, to keep.
    [[nodiscard]] ItemTokens of(const SaleId&, const ItemId&) const;

private:
    const SigningKeys keys_;
};

// A token lives for `life`, counted from the start if it was had before it, and never longer
// than the sale.
inline Instant token_expiry(Instant now, Instant opens_at, Instant closes_at, milliseconds life) {
    return std::min(closes_at, std::max(now, opens_at) + life);
}

// The purchase that a passed check stands for. Scoped like an Idempotency-Key, and apart from
// all of those: no such key has a space in it.
PurchaseId purchase_of_check(std::string_view check_id, const TokenScope&);

}  // namespace doorbuster
