// A thin hold on libpq: a connection with prepared statements in pipeline mode, and a transaction.
//
// Statements are queued and travel together; settle() waits for all their answers in one round
// trip. Every wait has a bound: connecting, a statement on the server, and an answer from it, after
// which the connection is given up. A connection that broke while nothing was under way is made
// anew with the next statement.
//
// Only a COMMIT whose answer did not come has an unknown outcome; whatever fails before it has
// changed nothing.
//
// Thread safety: none; a connection belongs to one thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store_cluster/pg_failure.hpp"
#include "store_cluster/pg_values.hpp"

namespace doorbuster::pg {

// A server as a simulation has it, one for each connection: answers statements in place of libpq.
class SimulatedServer {
public:
    struct Statement {
        std::string_view sql;
        Params params;
    };
    virtual ~SimulatedServer() = default;
    // One round trip, BEGIN, COMMIT and ROLLBACK included: an answer for each, or throws the first failure.
    // A connection that was lost is broken from then on.
    virtual std::vector<Rows> answer(const std::vector<Statement>& statements) = 0;
    virtual bool is_broken() const = 0;
};

struct ConnectionOptions {
    std::string url;                     // postgresql://user@host/database, or libpq's key=value words
    milliseconds connect_max{5'000};     // until a connection stands
    milliseconds statement_max{10'000};  // one statement, waiting for a lock included: the server ends it
    // For a lock that somebody else has: the server ends the statement. Zero: as long as a statement.
    milliseconds lock_max{0};
    milliseconds answer_max{15'000};  // silence: then the connection is given up
    std::string application{"doorbuster"};
    std::function<std::unique_ptr<SimulatedServer>()> simulated{};  // none: a real server is at the url
};

class Connection {
public:
    explicit Connection(ConnectionOptions options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Adds a statement to those that travel with the next settle(); where its answer will be.
    // Every text is prepared once per connection.
    // REQUIRES: `sql` lives as long as the program: the texts are constants.
    size_t queue(std::string_view sql, const Params& params = {});

    // Sends what is queued and waits for all of it. Throws the first failure; what was queued behind
    // it has not been run.
    std::vector<Rows> settle();

    // The answer to one statement, and to nothing else that was queued.
    Rows run(std::string_view sql, const Params& params = {});
    int64_t read_integer(std::string_view sql, const Params& params = {});

    // Several statements in one text, without parameters, in one transaction of their own.
    void run_script(const std::string& sql);

    // Connects if there is no connection that could be used.
    void ready();
    bool is_broken() const;
    bool in_transaction() const { return in_transaction_; }
    int server_process() const { return PQbackendPID(connection_); }

private:
    friend class Transaction;
    using Deadline = std::chrono::steady_clock::time_point;
    struct Queued {
        std::string_view sql;
        bool is_prepare;
    };

    void connect();
    void close();
    std::vector<Rows> settle_simulated();
    void set_up_session();
    bool has_unasked_words() const;
    PGresult* next_result(Deadline deadline);
    void wait(short events, Deadline deadline, std::string_view what);
    void commit();
    [[noreturn]] void lose(const std::string& why);
    [[noreturn]] void fail(const PGresult* result);

    const ConnectionOptions options_;
    PGconn* connection_ = nullptr;
    std::map<std::string_view, std::string> prepared_;  // text -> name; bound: the texts of the program
    std::vector<Queued> queued_;
    std::unique_ptr<SimulatedServer> simulated_;                // in place of connection_
    std::vector<SimulatedServer::Statement> simulated_queued_;  // in place of queued_
    bool in_transaction_ = false;
    milliseconds allowed_{0};  // more for an answer, in this transaction
    bool is_committing_ = false;
    bool was_warned_ = false;  // by the server, since the last settle
};

// Rolls back unless committed. Its BEGIN travels with the first statement.
class Transaction {
public:
    enum class Kind : uint8_t { write, read_one_moment };
    explicit Transaction(Connection& connection, Kind kind = Kind::write);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    // From here to its end a statement may take so long: for a read that is as large as a sale.
    void allow(milliseconds statement_max);

    // Throws with outcome_unknown if no answer comes: it may have landed.
    void commit();

private:
    Connection& connection_;
    bool is_open_ = true;
};

}  // namespace doorbuster::pg
