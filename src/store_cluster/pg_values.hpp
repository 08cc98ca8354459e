// What goes into a PostgreSQL statement and what comes out of it, in the binary format: nothing is
// quoted, escaped or parsed.
#pragma once

#include <libpq-fe.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "sale/ids.hpp"

namespace doorbuster::pg {

// What a text column can hold: UTF-8 without a zero byte. The server refuses everything else.
bool is_storable(std::string_view text);

// One array of a batch, element by element: `unnest` makes a column of rows of it.
class Column {
public:
    size_t size() const { return count_; }

protected:
    Column(Oid element, Oid array) : element_(element), array_(array) {}
    void push_bytes(std::string_view bytes);
    void push_none();

private:
    friend class Params;
    std::string encoded() const;

    Oid element_, array_;
    int32_t count_ = 0;
    bool has_null_ = false;
    std::string elements_;
};

class Integers : public Column {
public:
    Integers();
    template <std::integral T>
    void push(T value) {
        push_integer(static_cast<int64_t>(value));
    }
    template <class T>
    void push(const std::optional<T>& value) {
        value ? push_integer(static_cast<int64_t>(*value)) : push_none();
    }

private:
    void push_integer(int64_t value);
};

class Texts : public Column {
public:
    Texts();
    void push(std::string_view text) { push_bytes(text); }
    void push_or_null(std::string_view text) { text.empty() ? push_none() : push_bytes(text); }
};

class Uuids : public Column {
public:
    Uuids();
    void push(const PurchaseId& id);
    void push(const std::optional<PurchaseId>& id);
};

class Params {
public:
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Params& add(T value) {
        return add_integer(static_cast<int64_t>(value));
    }
    template <class T>
    Params& add(const std::optional<T>& value) {
        return value ? add_integer(static_cast<int64_t>(*value)) : add_null_integer();
    }
    Params& add(std::string_view text);
    Params& add_or_null(std::string_view text);  // empty: null
    Params& add(const PurchaseId& id);
    Params& add(const std::optional<PurchaseId>& id);
    Params& add(const Column& column);
    Params& add_bytes(std::string_view bytes);
    Params& add_flag(bool value);

    struct Value {
        Oid type;
        bool is_null;
        std::string bytes;  // as the wire has them
    };
    const std::vector<Value>& values() const { return values_; }

private:
    Params& add_integer(int64_t value);
    Params& add_null_integer();

    std::vector<Value> values_;
};

// One row of an answer; valid as long as its Rows.
class Row {
public:
    Row(const PGresult* result, int at, int first = 0) : result_(result), at_(at), first_(first) {}
    // Its columns from this one on.
    Row from(int column) const { return {result_, at_, first_ + column}; }

    int64_t integer(int column) const;
    bool flag(int column) const;
    std::string_view text(int column) const { return bytes(column); }
    std::string_view bytes(int column) const;
    bool is_null(int column) const { return PQgetisnull(result_, at_, first_ + column) != 0; }
    PurchaseId purchase(int column) const;
    std::optional<PurchaseId> purchase_or_none(int column) const;
    template <class T = int64_t>
    std::optional<T> integer_or_none(int column) const {
        return is_null(column) ? std::nullopt : std::optional(static_cast<T>(integer(column)));
    }
    Instant instant(int column) const { return from_ms(integer(column)); }
    std::optional<Instant> instant_or_none(int column) const {
        return is_null(column) ? std::nullopt : std::optional(instant(column));
    }

private:
    const PGresult* result_;
    int at_, first_;
};

// The answer to one statement.
class Rows {
public:
    explicit Rows(PGresult* result) : result_(result) {}
    // Of a simulation: libpq lets nobody else say what a command did.
    Rows(PGresult* result, std::string tag, size_t changed)
        : result_(result), tag_(std::move(tag)), changed_(changed) {}

    size_t size() const { return static_cast<size_t>(PQntuples(result_.get())); }
    bool empty() const { return size() == 0; }
    Row operator[](size_t at) const { return {result_.get(), static_cast<int>(at)}; }
    Row front() const { return (*this)[0]; }
    // How many rows it inserted, updated or deleted.
    size_t changed() const;
    std::string_view tag() const {
        return tag_ ? std::string_view(*tag_) : std::string_view(PQcmdStatus(result_.get()));
    }
    ExecStatusType status() const { return PQresultStatus(result_.get()); }
    std::string message() const { return PQresultErrorMessage(result_.get()); }
    const PGresult* raw() const { return result_.get(); }

private:
    struct Clear {
        void operator()(PGresult* result) const { PQclear(result); }
    };
    std::unique_ptr<PGresult, Clear> result_;
    std::optional<std::string> tag_;  // both or none
    size_t changed_ = 0;
};

}  // namespace doorbuster::pg
