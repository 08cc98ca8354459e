// Ruling: what a stage of the funnel says: pass, or a refusal.
//
// The stage is named with it, so that refusals are counted where they happen.
#pragma once

#include <cstdint>

#include "funnel/limits.hpp"
#include "metrics/probe.hpp"

namespace doorbuster {

enum class Refusal : uint8_t {
    none,
    malformed,
    unauthenticated,
    cross_site,
    blocked,
    rate_limited,
    overloaded,
    unavailable,
    not_open,
    ended,
    paused,
    sold_out,
    sold_out_for_now,
    token_required,
    token_invalid,
    token_not_asked,
    crowded,
};

struct Ruling {
    Stage stage{};
    Refusal refusal = Refusal::none;
    LimitRuling limit{};  // of a rate limit; of who is barred, until when

    bool passes() const { return refusal == Refusal::none; }

    static Ruling pass() { return {}; }
    static Ruling refuse(Stage stage, Refusal refusal) { return {.stage = stage, .refusal = refusal}; }
    static Ruling refuse(Stage stage, const LimitRuling& limit) {
        return {.stage = stage, .refusal = Refusal::rate_limited, .limit = limit};
    }
    static Ruling bar(Stage stage, Uptime retry_after) {
        return {.stage = stage,
                .refusal = Refusal::blocked,
                .limit = {.passes = false, .retry_after = retry_after}};
    }
};

}  // namespace doorbuster
