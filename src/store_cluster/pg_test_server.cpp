#include "store_cluster/pg_test_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/check.hpp"
#include "store_cluster/pg_schema.hpp"

namespace doorbuster::testing {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto start_max = 60s;
constexpr auto stop_max = 30s;
constexpr auto look_again = 5ms;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "PostgreSQL for tests: %s\n", why.c_str());
    std::exit(1);
}

std::string find_programs() {
    std::string found = "/usr/lib/postgresql/15/bin";
    if (std::filesystem::exists(found + "/initdb")) return found;
    std::array<char, 512> line{};
    if (FILE* config = popen("pg_config --bindir 2>/dev/null", "r")) {
        if (std::fgets(line.data(), line.size(), config) != nullptr) {
            found = line.data();
            while (!found.empty() && found.back() == '\n') found.pop_back();
        }
        pclose(config);
    }
    if (std::filesystem::exists(found + "/initdb")) return found;
    give_up("there is none; scripts/setup build test installs it (postgresql-15)");
}

// Whom root starts it as; none where this is not root.
const passwd* other_user() {
    if (geteuid() != 0) return nullptr;
    for (const char* name : {"postgres", "nobody"}) {
        if (const passwd* user = getpwnam(name)) return user;
    }
    give_up("it does not run as root, and there is neither a user postgres nor nobody");
}

template <class Probe>
bool wait_for(std::chrono::seconds at_most, Probe&& probe) {
    const auto deadline = steady_clock::now() + at_most;
    while (!probe()) {
        if (steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

}  // namespace

PostgresServer::PostgresServer(Durability durability, const std::string& parent)
    : durability_(durability), bin_(find_programs()) {
    make_folder(parent);
    make_data({"/initdb", "--pgdata=" + folder_ + "/data", "--username=doorbuster", "--auth=trust",
               "--encoding=UTF8", "--locale=C", "--no-sync"});
    start();
}

PostgresServer::PostgresServer(StandbyOf of) : durability_(Durability::none), bin_(find_programs()) {
    make_folder("");
    make_data({"/pg_basebackup", "--pgdata=" + folder_ + "/data", "--host=" + of.primary.folder(),
               "--username=doorbuster", "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast",
               "--no-sync"});
    start();
}

void PostgresServer::make_folder(const std::string& parent) {
    const auto place =
        parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::absolute(parent);
    folder_ = (place / "doorbuster-postgres-XXXXXX").string();
    CHECK(mkdtemp(folder_.data()) != nullptr);
    if (const passwd* user = other_user()) CHECK(chown(folder_.c_str(), user->pw_uid, user->pw_gid) == 0);
}

void PostgresServer::make_data(std::vector<std::string> words) {
    words.front() = bin_ + words.front();
    const pid_t made = fork();
    if (made == 0) run_program(words);
    int status = 0;
    CHECK(waitpid(made, &status, 0) == made);
    if (status != 0) give_up_with_log(words.front() + " failed");
}

PostgresServer::~PostgresServer() {
    stop();
    std::filesystem::remove_all(folder_);
}

// In the child.
void PostgresServer::run_program(const std::vector<std::string>& words) const {
    if (const passwd* user = other_user()) {
        if (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) _exit(126);
    }
    // A test that dies takes its server along. Fast shutdown: SIGINT.
    prctl(PR_SET_PDEATHSIG, SIGINT);
    const int log = open((folder_ + "/log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir(folder_.c_str()) != 0) _exit(126);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
}

void PostgresServer::start() {
    CHECK(process_ < 0);
    std::vector<std::string> words{bin_ + "/postgres",
                                   "-D",
                                   folder_ + "/data",
                                   "-clisten_addresses=",
                                   "-cunix_socket_directories=" + folder_,
                                   "-cmax_connections=100",
                                   "-cshared_buffers=64MB"};
    if (durability_ == Durability::none) {
        words.insert(words.end(), {"-cfsync=off", "-cfull_page_writes=off"});
    }
    process_ = fork();
    if (process_ == 0) run_program(words);
    CHECK(process_ > 0);
    wait_until_ready();
}

void PostgresServer::wait_until_ready() {
    const bool is_ready = wait_for(start_max, [&] {
        return PQping(options("postgres").url.c_str()) == PQPING_OK ||
               waitpid(process_, nullptr, WNOHANG) != 0;
    });
    if (is_ready && PQping(options("postgres").url.c_str()) == PQPING_OK) return;
    give_up_with_log("it does not start");
}

void PostgresServer::give_up_with_log(const std::string& why) const {
    std::ifstream log(folder_ + "/log");
    const std::string said(std::istreambuf_iterator<char>(log), {});
    std::filesystem::remove_all(folder_);
    give_up(why + ": " + said);
}

void PostgresServer::stop() {
    if (process_ < 0) return;
    kill(process_, SIGINT);
    if (!wait_for(stop_max, [&] { return waitpid(process_, nullptr, WNOHANG) == process_; })) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    process_ = -1;
}

pg::ConnectionOptions PostgresServer::options(const std::string& database) const {
    pg::ConnectionOptions options;
    options.url = fmt::format("host={} user=doorbuster dbname={}", folder_, database);
    return options;
}

// Much quicker than a new database for every test.
std::string PostgresServer::take_database() {
    if (idle_databases_.empty()) {
        const std::string name = fmt::format("test_{}", ++databases_);
        pg::Connection(options("postgres")).run_script("CREATE DATABASE " + name);
        pg::Connection fresh(options(name));
        pg::prepare(fresh);
        return name;
    }
    const std::string name = idle_databases_.back();
    idle_databases_.pop_back();
    pg::Connection(options(name)).run_script(R"sql(
        SET session_replication_role = replica;  -- no foreign keys to heed
        DO $$ DECLARE one record; BEGIN
            FOR one IN SELECT oid::regclass AS name FROM pg_class
                WHERE relnamespace = 'doorbuster'::regnamespace AND relkind IN ('r', 'p')
                AND NOT relispartition AND relname NOT IN ('migrations', 'notifier', 'partition_offsets')
            LOOP EXECUTE format('DELETE FROM %s', one.name); END LOOP;
            FOR one IN SELECT oid::regclass AS name FROM pg_class
                WHERE relnamespace = 'doorbuster'::regnamespace AND relkind = 'S'
            LOOP EXECUTE format('ALTER SEQUENCE %s RESTART', one.name); END LOOP;
        END $$;
        UPDATE notifier SET position = 0;
        DELETE FROM partition_offsets WHERE partition != 0;
        UPDATE partition_offsets SET position = 0, generation = 0;
    )sql");
    return name;
}

PostgresServer& postgres() {
    static PostgresServer server(PostgresServer::Durability::none);
    return server;
}

}  // namespace doorbuster::testing
