#include "store_cluster/pg_connection.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace doorbuster::pg {

namespace {

using std::chrono::steady_clock;

// What is queued at once; a batch has a handful, and one for each of its items.
constexpr size_t queued_max = 10'000;

StoreErrc errc_of(std::string_view state) {
    if (state == "53100") return StoreErrc::full;
    if (state == "25006" || state == "42501") return StoreErrc::read_only;  // a standby; no right to write
    if (state.starts_with("22") || state.starts_with("23")) return StoreErrc::not_allowed;
    if (state.starts_with("42") || state.starts_with("3F") || state.starts_with("XX"))
        return StoreErrc::damaged;
    return StoreErrc::unavailable;
}

bool is_contention(std::string_view state) {
    return state == "40001" || state == "40P01";
}

std::string trimmed(const char* message) {
    std::string text = message == nullptr ? "" : message;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

std::string_view field_of(const PGresult* result, int field) {
    const char* text = PQresultErrorField(result, field);
    return text == nullptr ? std::string_view() : text;
}

}  // namespace

Connection::Connection(ConnectionOptions options) : options_(std::move(options)) {
    connect();
}

Connection::~Connection() {
    close();
}

void Connection::close() {
    PQfinish(connection_);
    connection_ = nullptr;
    prepared_.clear();
    queued_.clear();
    simulated_.reset();
    simulated_queued_.clear();
}

bool Connection::is_broken() const {
    if (options_.simulated) return !simulated_ || simulated_->is_broken();
    return connection_ == nullptr || PQstatus(connection_) != CONNECTION_OK;
}

void Connection::connect() {
    close();
    if (options_.simulated) {
        simulated_ = options_.simulated();
        return;
    }
    const std::array<const char*, 4> names = {"dbname", "fallback_application_name", "client_encoding",
                                              nullptr};
    const std::array<const char*, 4> values = {options_.url.c_str(), options_.application.c_str(), "UTF8",
                                               nullptr};
    constexpr int expand_url = 1;
    connection_ = PQconnectStartParams(names.data(), values.data(), expand_url);
    if (connection_ == nullptr) throw Failure(StoreErrc::unavailable, "out of memory");
    const Deadline deadline = steady_clock::now() + options_.connect_max;
    for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;) {
        if (state == PGRES_POLLING_FAILED || PQstatus(connection_) == CONNECTION_BAD) {
            lose(trimmed(PQerrorMessage(connection_)));
        }
        wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline, "connecting");
        state = PQconnectPoll(connection_);
    }
    PQsetnonblocking(connection_, 1);
    PQsetNoticeReceiver(
        connection_,
        [](void* warned, const PGresult* notice) {
            if (field_of(notice, PG_DIAG_SEVERITY_NONLOCALIZED) == "WARNING")
                *static_cast<bool*>(warned) = true;
        },
        &was_warned_);
    if (PQenterPipelineMode(connection_) != 1) lose("no pipeline mode");
    set_up_session();
}

void Connection::set_up_session() {
    // A server or role that is set to answer before a commit is safe is not obeyed. Statements are planned
    // each time: a plan that was kept from the first second of a sale, when the tables were empty, would go
    // on reading all of them when they are large. In a batch that costs little.
    static constexpr std::string_view set_up =
        "SELECT set_config('search_path', 'doorbuster', false),"
        " set_config('statement_timeout', $1::bigint::text, false),"
        " set_config('lock_timeout', $2::bigint::text, false),"
        " set_config('idle_in_transaction_session_timeout', $3::bigint::text, false),"
        " set_config('default_transaction_isolation', 'read committed', false),"
        " set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_custom_plan', false),"
        " set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN"
        " ('off', 'local', 'remote_write') THEN 'on' ELSE current_setting('synchronous_commit') END, false)";
    // Whoever sleeps in a transaction must not keep its rows from everybody else.
    constexpr milliseconds asleep_max{10'000};
    const milliseconds lock_max =
        options_.lock_max > milliseconds(0) ? options_.lock_max : options_.statement_max;
    run(set_up, Params().add(options_.statement_max.count()).add(lock_max.count()).add(asleep_max.count()));
}

// Nobody was asked, so what comes is a farewell.
bool Connection::has_unasked_words() const {
    if (simulated_) return false;
    pollfd socket{PQsocket(connection_), POLLIN, 0};
    return poll(&socket, 1, 0) != 0;
}

void Connection::ready() {
    if (in_transaction_) {
        if (is_broken()) throw Failure(StoreErrc::unavailable, "the connection was lost");
        return;
    }
    if (is_broken() || has_unasked_words()) connect();
}

size_t Connection::queue(std::string_view sql, const Params& params) {
    if (queued_.empty() && simulated_queued_.empty()) ready();
    if (simulated_) {
        simulated_queued_.push_back({sql, params});
        return simulated_queued_.size() - 1;
    }
    CHECK(queued_.size() < queued_max);
    size_t statements = 0;
    for (const Queued& one : queued_) statements += one.is_prepare ? 0 : 1;

    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> lengths, formats(params.values().size(), 1);
    for (const Params::Value& value : params.values()) {
        types.push_back(value.type);
        values.push_back(value.is_null ? nullptr : value.bytes.data());
        lengths.push_back(static_cast<int>(value.bytes.size()));
    }
    const int count = static_cast<int>(values.size());
    auto known = prepared_.find(sql);
    if (known == prepared_.end()) {
        known = prepared_.emplace(sql, fmt::format("s{}", prepared_.size())).first;
        if (PQsendPrepare(connection_, known->second.c_str(), std::string(sql).c_str(), count,
                          types.data()) != 1) {
            lose(trimmed(PQerrorMessage(connection_)));
        }
        queued_.push_back({sql, true});
    }
    constexpr int binary = 1;
    if (PQsendQueryPrepared(connection_, known->second.c_str(), count, values.data(), lengths.data(),
                            formats.data(), binary) != 1) {
        lose(trimmed(PQerrorMessage(connection_)));
    }
    queued_.push_back({sql, false});
    return statements;
}

std::vector<Rows> Connection::settle_simulated() {
    const auto asked = std::exchange(simulated_queued_, {});
    if (is_broken()) throw Failure(StoreErrc::unavailable, "the connection was lost", is_committing_);
    if (asked.empty()) return {};
    return simulated_->answer(asked);
}

std::vector<Rows> Connection::settle() {
    if (options_.simulated) return settle_simulated();
    const Deadline deadline = steady_clock::now() + options_.answer_max + allowed_;
    std::vector<Rows> answers;
    if (queued_.empty()) return answers;
    if (is_broken() || PQpipelineSync(connection_) != 1) lose(trimmed(PQerrorMessage(connection_)));
    const auto asked = std::exchange(queued_, {});
    // The first error, kept until all answers are here: the connection stays in step.
    std::optional<Rows> first_error;
    for (const Queued& one : asked) {
        Rows answer(next_result(deadline));
        const auto status = answer.status();
        const bool is_good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
        if (!is_good && one.is_prepare) prepared_.erase(one.sql);
        if (status == PGRES_FATAL_ERROR && !first_error) first_error = std::move(answer);
        if (is_good && !one.is_prepare) answers.push_back(std::move(answer));
        if (is_broken()) break;
        const Rows end(next_result(deadline));  // of this statement's answers
        if (end.raw() != nullptr) break;
    }
    const Rows sync(is_broken() ? nullptr : next_result(deadline));
    if (is_broken() || sync.status() != PGRES_PIPELINE_SYNC) {
        lose(trimmed(first_error ? first_error->message().c_str() : PQerrorMessage(connection_)));
    }
    if (first_error) fail(first_error->raw());
    return answers;
}

Rows Connection::run(std::string_view sql, const Params& params) {
    const size_t at = queue(sql, params);
    return std::move(settle()[at]);
}

int64_t Connection::read_integer(std::string_view sql, const Params& params) {
    const Rows rows = run(sql, params);
    return rows.empty() || rows.front().is_null(0) ? 0 : rows.front().integer(0);
}

void Connection::run_script(const std::string& sql) {
    ready();
    CHECK(PQexitPipelineMode(connection_) == 1);
    const Deadline deadline = steady_clock::now() + options_.answer_max;
    if (PQsendQuery(connection_, sql.c_str()) != 1) lose(trimmed(PQerrorMessage(connection_)));
    std::optional<Rows> error;
    while (PGresult* result = next_result(deadline)) {
        Rows answer(result);
        if (answer.status() == PGRES_FATAL_ERROR && !error) error = std::move(answer);
        if (is_broken()) break;
    }
    if (is_broken()) lose(error ? error->message() : "the connection was lost");
    CHECK(PQenterPipelineMode(connection_) == 1);
    if (error) fail(error->raw());
}

PGresult* Connection::next_result(Deadline deadline) {
    for (;;) {
        const int left = PQflush(connection_);
        if (left < 0 || PQisBusy(connection_) == 0) break;
        wait(left > 0 ? POLLIN | POLLOUT : POLLIN, deadline, "an answer");
        if (PQconsumeInput(connection_) == 0) break;
    }
    return PQgetResult(connection_);
}

void Connection::wait(short events, Deadline deadline, std::string_view what) {
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
        pollfd socket{PQsocket(connection_), events, 0};
        const int ready_count = left <= 0 ? 0 : poll(&socket, 1, static_cast<int>(left));
        if (ready_count > 0) return;
        if (ready_count == 0) lose(fmt::format("PostgreSQL was too slow: {} took too long", what));
        if (errno != EINTR) lose(std::strerror(errno));
    }
}

void Connection::commit() {
    is_committing_ = true;
    was_warned_ = false;
    struct Done {
        bool& flag;
        ~Done() { flag = false; }
    } done{is_committing_};
    const Rows committed = run("COMMIT");
    // PostgreSQL answers so when the transaction had failed before.
    if (committed.tag() != "COMMIT") throw Failure(StoreErrc::unavailable, "the transaction was rolled back");
    // "canceling wait for synchronous replication": committed here, but perhaps not on the standby that
    // takes over next.
    if (was_warned_) {
        throw Failure(StoreErrc::unavailable, "the commit was not confirmed by the standby", true);
    }
}

void Connection::lose(const std::string& why) {
    const bool outcome_unknown = is_committing_;
    close();
    throw Failure(StoreErrc::unavailable, why.empty() ? "the connection was lost" : why, outcome_unknown);
}

void Connection::fail(const PGresult* result) {
    const std::string_view state = field_of(result, PG_DIAG_SQLSTATE);
    std::string detail(field_of(result, PG_DIAG_MESSAGE_PRIMARY));
    if (const auto more = field_of(result, PG_DIAG_MESSAGE_DETAIL); !more.empty()) {
        detail += fmt::format(" ({})", more);
    }
    detail += fmt::format(" [{}]", state);
    // A schema that changed under prepared statements: new ones are made with the next connection.
    if (state == "0A000" || state == "26000") lose(detail);
    if (is_contention(state)) throw Contention(std::move(detail));
    Failure failure(errc_of(state), std::move(detail));
    failure.constraint = field_of(result, PG_DIAG_CONSTRAINT_NAME);
    throw failure;
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
    CHECK(!connection.in_transaction_);
    connection.ready();
    connection.queue(kind == Kind::write ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    connection.in_transaction_ = true;
}

Transaction::~Transaction() {
    if (is_open_ && !connection_.is_broken()) {
        try {
            connection_.run("ROLLBACK");
        } catch (...) {
            connection_.close();  // the server rolls back what its client left
        }
    }
    connection_.in_transaction_ = false;
    connection_.allowed_ = milliseconds(0);
}

void Transaction::allow(milliseconds statement_max) {
    connection_.queue("SELECT set_config('statement_timeout', $1::bigint::text, true)",
                      Params().add(statement_max.count()));
    connection_.allowed_ = statement_max;
}

void Transaction::commit() {
    connection_.commit();
    is_open_ = false;
}

}  // namespace doorbuster::pg
