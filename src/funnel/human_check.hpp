// Which human check a buyer is asked for, and when one can be had.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "funnel/identity.hpp"
#include "sale/catalogue.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

// The sale's, unless the shop's token raises or waives it for this buyer. It never makes it
// easier otherwise: a shop that asks a suspect for proof of work does not spare it the image.
inline HumanCheck check_asked(HumanCheck of_sale, CheckClaim claim) {
    switch (claim) {
        case CheckClaim::none_said:
            return of_sale;
        case CheckClaim::waive:
            return HumanCheck::none;
        case CheckClaim::pow:
            return std::max(of_sale, HumanCheck::pow);
        case CheckClaim::image:
            return HumanCheck::image;
    }
    CHECK(false);
    return of_sale;
}

// From the warm-up to the end, so that none can be hoarded long before the start. A pause or a
// sell-out does not count: units may come back.
enum class CheckWindow : uint8_t { open, not_open, ended };

inline CheckWindow check_window(const ListedSale& listed, Instant now) {
    if (listed.state == SaleState::draft || listed.state == SaleState::scheduled)
        return CheckWindow::not_open;
    if (phase_in(listed.state) == Phase::closed || now >= listed.sale.closes_at) return CheckWindow::ended;
    return CheckWindow::open;
}

}  // namespace doorbuster
