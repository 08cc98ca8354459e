#include "store_cluster/postgres_duty.hpp"

#include "base/log.hpp"

namespace doorbuster {

namespace {

// Any number, the same in every version of this program.
constexpr int64_t duty_lock = 0x646f6f72'64757479;

}  // namespace

StoreResult<void> Duty::look() {
    const auto looked = pg::guarded("looking after the duty", [&] {
        // On a new connection, if the old one has ended. Taken where it is free, and not once more where this
        // session has it. Whoever sleeps for long loses it with the session.
        return connection_
            .run(
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = "
                "pg_backend_pid() "
                "AND granted AND (classid::bigint << 32 | objid::bigint) = $1) OR pg_try_advisory_lock($1) "
                "FROM set_config('idle_session_timeout', '5000', false)",
                pg::Params().add(duty_lock))
            .front()
            .flag(0);
    });
    const bool is_on = looked && *looked;
    if (is_on != is_on_.exchange(is_on, std::memory_order_relaxed)) {
        log_info(is_on ? "on duty: the clock and the money are watched here" : "off duty");
    }
    if (!looked) return looked.error();
    return {};
}

}  // namespace doorbuster
