// A file layer for SQLite that ends the process at a chosen write boundary.
//
// It stands between SQLite and the system. Every write, truncate, sync and delete of a
// database, its write-ahead log or its journal is a boundary; they are counted over all
// files and threads. At the chosen one the process ends by SIGKILL, just before the
// operation, and no other thread reads or writes in the meantime.
//
// Nothing is really synced: the machine goes on, so a kill loses nothing that was written,
// and what a power cut would lose is known from Disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace doorbuster::boundary {

enum class CrashMode : uint8_t {
    kill,   // what was written stays
    half,   // the same, but the last write was only half done
    power,  // what was not yet synced is lost or torn
};

struct CrashPlan {
    uint64_t at = 0;  // which boundary, from 1; 0: none, only count
    CrashMode mode = CrashMode::kill;
    uint64_t seed = 0;          // of what the power cut takes
    bool ignores_sync = false;  // a sync makes nothing certain: a disk that lies
    std::string report;         // file for the counts, written at the end, also at a violent one
};

// From CRASH_AT, CRASH_MODE, CRASH_SEED, CRASH_IGNORE_SYNC and CRASH_REPORT.
// None: there is no CRASH_REPORT, so nobody asks for a crash.
std::optional<CrashPlan> plan_from_environment();

// For every database opened from now on. REQUIRES: called once.
void install_crash_vfs(const CrashPlan&);

}  // namespace doorbuster::boundary
