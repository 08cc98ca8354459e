// A thin hold on SQLite: a connection, its statements, a transaction.
//
// Inside this folder a failure is thrown; the adapters turn it into a StoreError at
// the port, with guarded(). Nothing of it leaves the folder.
//
// Thread safety: none; a connection belongs to one thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "store/failure.hpp"

namespace doorbuster::sqlite {

using Failure = StoreFailure;
using doorbuster::guarded;
using doorbuster::required;
using doorbuster::written;

class Connection;

// One prepared statement, made once and used many times. Bind by position from 1.
class Statement {
public:
    Statement(Connection& connection, std::string_view sql);

    Statement& bind(int at, int64_t value);
    Statement& bind(int at, std::string_view text);
    Statement& bind_blob(int at, const void* bytes, size_t size);
    Statement& bind_null(int at);

    // True while there is a row. After the last one the statement is reset.
    bool step();
    // For a statement without rows: runs it and tells how many rows it changed.
    int run();
    // The same for one that a constraint may stop; false then. What it has changed by then stays, if it says
    // OR FAIL.
    bool try_to_run();
    void reset();

    int64_t integer(int column) const;
    std::string_view text(int column) const;  // valid until the next step
    std::string_view blob(int column) const;
    bool is_null(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    Connection* connection_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Leaves its statement reset, whatever happens: a statement in mid-row would keep
// its read transaction, and with it the write-ahead log, for ever.
class Rows {
public:
    explicit Rows(Statement& statement) : statement_(statement) {}
    ~Rows() { statement_.reset(); }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    bool next() { return statement_.step(); }
    const Statement* operator->() const { return &statement_; }

private:
    Statement& statement_;
};

enum class Access : uint8_t { write, read };

class Connection {
public:
    Connection(const std::string& path, Access access);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void execute(const char* sql);
    int64_t read_integer(const char* sql);
    int changes() const;
    // How many rows were changed through this connection since it was opened.
    int64_t changes_total() const;

    // Copies what the write-ahead log holds into the database, as far as readers allow.
    void checkpoint();
    // A commit that finds this much in it copies it at once instead of waiting for a quiet moment.
    bool is_log_full() const { return log_frames_ > log_frames_max_; }
    void set_log_frames_max(int frames) { log_frames_max_ = frames; }

    // Called behind every commit that has landed.
    void set_after_commit(std::function<void()> after_commit) { after_commit_ = std::move(after_commit); }

    sqlite3* raw() const { return database_; }
    [[noreturn]] void fail(int code, bool outcome_unknown = false) const;

private:
    friend class Transaction;

    sqlite3* database_ = nullptr;
    int log_frames_ = 0, log_frames_max_ = 0;
    std::function<void()> after_commit_;
};

// Rolls back unless committed.
class Transaction {
public:
    explicit Transaction(Connection& connection);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    // Throws with outcome_unknown if the commit fails: it may have reached the disk.
    void commit();

private:
    Connection& connection_;
    bool open_ = true;
};

}  // namespace doorbuster::sqlite
