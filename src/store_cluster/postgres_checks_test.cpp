#include "store_cluster/postgres_checks.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/check.hpp"
#include "sale/testing.hpp"
#include "store_cluster/checks_testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t few = 20;  // connections

PostgresFacts facts_of(const pg::ConnectionOptions& options) {
    pg::Connection connection(options);
    auto facts = read_postgres_facts(connection);
    if (!facts) throw std::runtime_error(facts.error().text());
    return *facts;
}

PostgresFacts durable_facts() {
    return facts_of(durable_postgres().options(durable_database()));
}

WarmUpFindings check_durable() {
    return judge_postgres(durable_facts(), few);
}

void await(const char* what, const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!is_so()) {
        if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(what);
    }
}

// Until new sessions have it.
void set_standby_names(const std::string& names) {
    {
        pg::Connection connection(durable_postgres().options("postgres"));
        connection.run_script("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'");
        connection.run_script("SELECT pg_reload_conf()");
    }
    await("the setting does not arrive", [&] { return durable_facts().standby_names == names; });
}

// A synchronous standby as far as commits are concerned: it has the log on its own disk before it confirms.
class LogReceiver {
public:
    explicit LogReceiver(const PostgresServer& server) {
        const std::string folder = server.folder() + "/received",
                          place = "host=" + server.folder() + " user=doorbuster",
                          program = server.program("pg_receivewal");
        std::filesystem::create_directory(folder);
        process_ = fork();
        CHECK(process_ >= 0);
        if (process_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(program.c_str(), program.c_str(), "--synchronous", "--no-loop", "-D", folder.c_str(), "-d",
              place.c_str(), nullptr);
        _exit(127);
    }
    ~LogReceiver() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    LogReceiver(const LogReceiver&) = delete;
    LogReceiver& operator=(const LogReceiver&) = delete;

private:
    pid_t process_;
};

TEST(PostgresChecks, AHealthyOneHasNoFindingsAndWithoutItsStandbyItFails) {
    EXPECT_THAT(told(check_durable()), ElementsAre("warning postgres.standby")) << "none is named";
    set_standby_names("pg_receivewal");
    {
        const LogReceiver receiver(durable_postgres());
        await("the standby does not come", [] { return durable_facts().standbys == 1; });
        EXPECT_THAT(told(check_durable()), IsEmpty());
    }
    await("the standby does not go", [] { return durable_facts().standbys == 0; });
    const auto found = check_durable();
    EXPECT_THAT(told(found), ElementsAre("failure postgres.standby_away"));
    EXPECT_THAT(mend_of(found, "postgres.standby_away"), HasSubstr("synchronous_standby_names"));
    set_standby_names("");
}

TEST(PostgresChecks, ADiskThatIsNotWaitedForIsAFailure) {
    const TestDatabase database;  // of the server that the other tests share: fast, and not safe
    const auto found = judge_postgres(facts_of(database.options()), few);
    EXPECT_THAT(told(found), ElementsAre("failure postgres.fsync", "failure postgres.full_page_writes",
                                         "warning postgres.standby"));
    EXPECT_THAT(mend_of(found, "postgres.fsync"), HasSubstr("ALTER SYSTEM SET fsync = on"));
}

TEST(PostgresChecks, ACommitThatIsNotWaitedForIsAWarning) {
    const std::string& name = durable_database();
    pg::Connection connection(durable_postgres().options("postgres"));
    for (const char* value : {"off", "local"}) {
        connection.run_script("ALTER DATABASE " + name + " SET synchronous_commit = " + value);
        EXPECT_THAT(told(check_durable()),
                    ElementsAre("warning postgres.synchronous_commit", "warning postgres.standby"));
    }
    connection.run_script("ALTER DATABASE " + name + " RESET synchronous_commit");
    EXPECT_THAT(told(check_durable()), ElementsAre("warning postgres.standby"));
}

TEST(PostgresChecks, TooFewConnectionsForAllNodesAreAFailure) {
    PostgresFacts facts = durable_facts();
    EXPECT_EQ(facts.connections_max, 97);
    EXPECT_EQ(facts.nodes, 1);
    EXPECT_THAT(told(judge_postgres(facts, 90)), ElementsAre("warning postgres.standby"));
    facts.nodes = 2;
    const auto found = judge_postgres(facts, 90);
    EXPECT_THAT(told(found), Contains("failure postgres.connections"));
    EXPECT_THAT(mend_of(found, "postgres.connections"), HasSubstr("max_connections = 19"));
}

TEST(PostgresChecks, ASchemaOfAnotherVersionIsAFailure) {
    TestDatabase database;
    database.spoil();
    pg::Connection connection(database.options());
    const auto check = [&] { return judge_postgres(facts_of(database.options()), few); };
    connection.run_script("INSERT INTO migrations VALUES(999)");
    EXPECT_THAT(told(check()), Contains("failure postgres.schema"));
    EXPECT_THAT(mend_of(check(), "postgres.schema"), HasSubstr("newer doorbuster"));
    connection.run_script("DELETE FROM migrations WHERE version > 1");
    EXPECT_THAT(mend_of(check(), "postgres.schema"), HasSubstr("restart this server"));
}

TEST(PostgresChecks, AStandbyIsAFailure) {
    (void)durable_facts();  // it has the schema
    PostgresServer& server = durable_postgres();
    const std::string signal_file = server.folder() + "/data/standby.signal";
    server.stop();
    std::ofstream(signal_file).close();
    server.start();
    const auto found = check_durable();
    EXPECT_THAT(told(found), Contains("failure postgres.recovery"));
    EXPECT_THAT(mend_of(found, "postgres.recovery"), HasSubstr("pg_promote"));
    server.stop();
    std::filesystem::remove(signal_file);
    server.start();
}

TEST(PostgresChecks, AnOlderVersionIsAFailure) {
    PostgresFacts facts = durable_facts();
    facts.version = 140'009;
    EXPECT_THAT(told(judge_postgres(facts, few)), Contains("failure postgres.version"));
}

TEST(PostgresChecks, EverySaleThatIsWarmingOrOnIsReckonedWith) {
    const TestDatabase database;
    const auto orders = database.open();
    const auto create = [&](const char* id, SaleState state, StockPolicy policy) {
        Sale sale = phone_drop(10);
        sale.id = SaleId(id);
        sale.stock_policy = policy;
        ASSERT_TRUE(orders->create_sale(sale, state, t0).has_value());
    };
    create("later", SaleState::scheduled, StockPolicy::reserve);
    create("over", SaleState::closed, StockPolicy::reserve);
    EXPECT_EQ(facts_of(database.options()).acceptances_expected, 0);
    create("now", SaleState::warming, StockPolicy::reserve);
    create("slots", SaleState::open, StockPolicy::at_payment);
    EXPECT_EQ(facts_of(database.options()).acceptances_expected, 10 + 20);
}

}  // namespace
}  // namespace doorbuster
