#include "store_cluster/primary_clock.hpp"

#include <gtest/gtest.h>

#include "store/contract_testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class PrimaryClock : public ::testing::Test {
protected:
    static constexpr pg::BootTime begin = 1h;

    MonotonicClock process;
    pg::PrimaryClock clock{process, {t0, begin, begin}};
};

TEST_F(PrimaryClock, CountsOnFromTheMiddleOfTheRoundTrip) {
    clock.hear({t0 + 7h, begin, begin + 200ms});
    EXPECT_EQ(clock.now(begin + 100ms), t0 + 7h);
    EXPECT_EQ(clock.now(begin + 600ms), t0 + 7h + 500ms);
}

TEST_F(PrimaryClock, PassesAnAnswerOverThatTookTooLong) {
    clock.hear({t0 + 7h, begin, begin + 1'001ms});
    EXPECT_EQ(clock.now(begin + 2s), t0 + 2s);
}

TEST_F(PrimaryClock, GoesAtHalfSpeedWhileThePrimaryIsBehindWhatWasSaid) {
    EXPECT_EQ(clock.now(begin + 10s), t0 + 10s);
    clock.hear({t0, begin + 10s, begin + 10s});
    EXPECT_EQ(clock.now(begin + 10s), t0 + 10s);
    EXPECT_EQ(clock.now(begin + 12s), t0 + 11s);
    for (pg::BootTime at = begin + 12s; at < begin + 14s; at += 1ms) (void)clock.now(at);
    EXPECT_EQ(clock.now(begin + 14s), t0 + 12s) << "however often it is asked";
    EXPECT_EQ(clock.now(begin + 13s), t0 + 12s) << "by another thread, a moment late";
    EXPECT_EQ(clock.now(begin + 40s), t0 + 30s) << "it has caught up";
}

TEST_F(PrimaryClock, ThisMachinesTimeOfDayIsNotAsked) {
    TestDatabase database;
    pg::Connection connection{database.options()};
    connection.run_script(
        "SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS "
        "timestamptz LANGUAGE sql VOLATILE AS $$ SELECT timestamptz '2001-02-03 04:05:06Z' $$");
    const pg::TimeHeard heard = pg::hear_time(connection);
    EXPECT_EQ(heard.told, from_ms(981'173'106'000));
    EXPECT_LE(heard.asked_at, heard.answered_at);
    pg::PrimaryClock there(process, heard);
    EXPECT_EQ(there.now(heard.told_at()), heard.told);
    EXPECT_LT(there.now(), MonotonicClock::system_now() - 24h);
}

}  // namespace
}  // namespace doorbuster
