// How the configuration says that purchases go to the books.
#pragma once

#include "config/config.hpp"
#include "store/pacing.hpp"

namespace doorbuster {

inline Pacing pacing_of(const ShardOptions& options) {
    return {.wait_max = milliseconds(options.wait_ms_max.value()),
            .rate_per_second_max = options.rate_per_second_max};
}

}  // namespace doorbuster
