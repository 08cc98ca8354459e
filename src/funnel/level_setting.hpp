// The operator's level outlives a restart: a shop that was closed stays closed. On the cluster it is
// one level for all processes; the detector's is each process' own.
//
// Thread safety: the settings' thread.
#pragma once

#include "funnel/level.hpp"
#include "store/settings.hpp"

namespace doorbuster {

// At the start. Error `damaged` if what is kept is no level.
[[nodiscard]] StoreResult<void> restore_level(Settings& settings, LevelSwitch& level, Instant now);

// What another process' operator has changed since counts here, too. While it cannot be read, the level
// stays as it was.
[[nodiscard]] StoreResult<void> follow_level(Settings& settings, LevelSwitch& level, Instant now);

// Kept first, then in force.
[[nodiscard]] StoreResult<void> change_level(Settings& settings, LevelSwitch& level, OperatorLevel to,
                                             Instant now);

}  // namespace doorbuster
