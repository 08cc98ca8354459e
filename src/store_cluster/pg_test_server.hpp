// A real PostgreSQL for tests and benchmarks: its own folder, a socket in it, stopped with the process.
//
// PostgreSQL refuses to run as root, so root starts it as another user.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "store_cluster/pg_connection.hpp"

namespace doorbuster::testing {

class PostgresServer {
public:
    enum class Durability : uint8_t {
        none,  // a test's: a power cut may take all of it
        full,
    };

    // Ends the process with a message if there is no PostgreSQL to start. `parent`: where its folder goes.
    explicit PostgresServer(Durability durability, const std::string& parent = "");
    // A hot standby of that one, as it is now and following it.
    struct StandbyOf {
        const PostgresServer& primary;
    };
    explicit PostgresServer(StandbyOf of);
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    void start();
    void stop();  // as an operator does: those connected are cut off

    pg::ConnectionOptions options(const std::string& database) const;
    const std::string& folder() const { return folder_; }
    pid_t process() const { return process_; }
    std::string program(const std::string& name) const { return bin_ + "/" + name; }

    // A database as the migrations leave it: one that came back and was emptied, or a new one.
    std::string take_database();
    void give_back(const std::string& name) { idle_databases_.push_back(name); }

private:
    void make_folder(const std::string& parent);
    // initdb or pg_basebackup, without the program's folder.
    void make_data(std::vector<std::string> words);
    [[noreturn]] void run_program(const std::vector<std::string>& words) const;
    void wait_until_ready();
    [[noreturn]] void give_up_with_log(const std::string& why) const;

    const Durability durability_;
    std::string bin_, folder_;
    pid_t process_ = -1;
    int databases_ = 0;
    std::vector<std::string> idle_databases_;
};

// The one that all tests of a program share.
PostgresServer& postgres();

}  // namespace doorbuster::testing
