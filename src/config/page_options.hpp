// The options of the buyers' pages.
#pragma once

#include "config/option.hpp"

namespace doorbuster {

struct PageOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> cooldown_ms{
        *this,
        "cooldown_ms",
        5000,
        {.max = 60'000},
        "How long the button stays grey after a press that won nothing. Longer spares the server, shorter "
        "lets a buyer try again sooner."};
    Option<uint32_t> cache_s{
        *this,
        "cache_s",
        30,
        {.max = 86'400},
        "For how long a CDN or a browser may keep a page. Longer takes more visitors off this server; a "
        "changed title or start shows that much later. A page counts down by the server's clock and hears "
        "everything else when it acts, however old it is."};
    Option<uint32_t> stale_s{*this,
                             "stale_s",
                             60,
                             {.max = 86'400},
                             "For how long, after that, it may still be shown while a newer one is fetched."};
};

}  // namespace doorbuster
