// Cashier: the payment desk with its provider, and the desk for dead letters, wired to the
// orders thread.
//
// Thread safety: the desks belong to the orders thread; stop from any.
#pragma once

#include <functional>
#include <span>

#include "config/config.hpp"
#include "orders/letters_desk.hpp"
#include "orders/payment_desk.hpp"
#include "server/provider_pool.hpp"

namespace doorbuster {

class Cashier {
public:
    struct Hooks {
        // Runs the task on the orders thread; never refuses it.
        std::function<void(std::function<void()>)> post;
        std::function<void(std::span<const PurchaseId>)> changed;
        std::function<void(const BuyerId&)> abandoned;
    };

    Cashier(const PaymentsOptions& options, Orders& orders, BookControl& books, LedgerReader& ledger,
            Snowflake& ids, OrderTally& tally, Clock& clock, const Hooks& hooks);

    PaymentDesk& payments() { return payments_; }
    LettersDesk& letters() { return letters_; }

    // Who waits for the provider hears that it did not answer.
    void stop() { pool_.stop(); }

private:
    PaymentDesk payments_;
    LettersDesk letters_;
    ProviderPool pool_;
};

}  // namespace doorbuster
