#include "http/purchase_body.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/json/basic_parser_impl.hpp>

#include "base/check.hpp"
#include "base/json_names.hpp"
#include "http/json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

enum class Field : uint8_t { item, quantity, token, other };
constexpr std::array<std::string_view, 3> field_names = {"item", "quantity", "token"};

struct Reader {
    static constexpr size_t max_object_size = size_t(-1);
    static constexpr size_t max_array_size = size_t(-1);
    static constexpr size_t max_key_size = size_t(-1);
    static constexpr size_t max_string_size = size_t(-1);
    using Error = json::error_code;
    using Kind = PurchaseFault::Kind;

    PurchaseBody body;
    JsonNames names;
    Field field = Field::other;
    std::array<bool, field_names.size()> seen{};
    bool is_object = false;
    bool has_enough = false;            // what is known makes it 422, whatever comes behind it
    decltype(PurchaseFault::name) key;  // a longer one is unknown anyway
    BoundedText<ItemId::bytes_max> text;

    // Bound: one at most for each thing that is read, and reads_on() asks after each.
    void fault(PurchaseFault fault) { body.faults.push_back(fault); }

    // A value has begun. What is inside an array or an object was judged with it.
    bool is_field() const { return names.depth() == 1 && is_object; }
    void wrong_type() {
        if (!is_field()) return;
        switch (field) {
            case Field::item:
                return fault({Kind::item_type});
            case Field::quantity:
                return fault({Kind::quantity});
            case Field::token:
                return fault({Kind::token_type});
            case Field::other:
                return;
        }
    }

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    static bool fail(Error& error) {
        error = json::error::syntax;
        return false;
    }
    bool stop(Error& error) {
        has_enough = true;
        return fail(error);
    }
    bool reads_on(Error& error) { return body.faults.size() < purchase_faults_max || stop(error); }

    bool on_object_begin(Error& error) {
        wrong_type();
        if (names.depth() == 0) is_object = true;
        return names.enter_object() ? reads_on(error) : fail(error);
    }
    bool on_object_end(size_t, Error&) {
        names.leave();
        return true;
    }
    bool on_array_begin(Error& error) {
        wrong_type();
        return names.enter_list() ? reads_on(error) : fail(error);
    }
    bool on_array_end(size_t, Error&) {
        names.leave();
        return true;
    }

    bool on_key_part(json::string_view part, size_t, Error&) {
        names.add({part.data(), part.size()});
        if (is_field()) key.add({part.data(), part.size()});
        return true;
    }
    bool on_key(json::string_view part, size_t, Error& error) {
        names.add({part.data(), part.size()});
        switch (names.end()) {
            case JsonNames::Name::fresh:
                break;
            case JsonNames::Name::twice:
                return fail(error);
            case JsonNames::Name::too_many:
                // A purchase has three: the others are unknown, are inside of what should be text or a
                // number, or it is no object at all.
                return stop(error);
        }
        if (!is_field()) return true;
        key.add({part.data(), part.size()});
        field = Field::other;
        for (size_t i = 0; i < field_names.size(); ++i) {
            if (key.view() == field_names[i] && !key.overlong()) field = static_cast<Field>(i);
        }
        if (field == Field::other) {
            fault({Kind::unknown_field, key});
        } else {
            seen[static_cast<size_t>(field)] = true;
        }
        key.clear();
        text.clear();
        return reads_on(error);
    }

    bool on_string_part(json::string_view part, size_t, Error&) {
        add_text({part.data(), part.size()});
        return true;
    }
    void add_text(std::string_view part) {
        if (is_field() && field == Field::token) return body.token.add(part);
        text.add(part);
    }
    bool on_string(json::string_view part, size_t, Error& error) {
        add_text({part.data(), part.size()});
        if (is_field() && field == Field::item) {
            // Longer than an id can be: no item has it.
            if (!text.overlong() && !text.view().empty()) body.item = ItemId(text.view());
        } else if (is_field() && field == Field::token) {
            body.has_token = true;
            if (body.token.overlong()) body.token.clear();
        } else {
            wrong_type();
        }
        return reads_on(error);
    }

    bool on_number_part(json::string_view, Error&) { return true; }
    bool on_int64(int64_t number, json::string_view, Error& error) {
        if (is_field() && field == Field::quantity && number >= 1 && number <= units_per_purchase_max) {
            body.quantity = static_cast<uint32_t>(number);
        } else {
            wrong_type();
        }
        return reads_on(error);
    }
    bool on_uint64(uint64_t, json::string_view, Error& error) {  // above 2^63
        wrong_type();
        return reads_on(error);
    }
    bool on_double(double, json::string_view, Error& error) {
        wrong_type();
        return reads_on(error);
    }
    bool on_bool(bool, Error& error) {
        wrong_type();
        return reads_on(error);
    }
    bool on_null(Error& error) {
        wrong_type();
        return reads_on(error);
    }
    bool on_comment_part(json::string_view, Error&) { return true; }
    bool on_comment(json::string_view, Error&) { return true; }
};

Fault in_words(const PurchaseFault& fault) {
    switch (fault.kind) {
        case PurchaseFault::Kind::no_object:
            return {"", "must be an object"};
        case PurchaseFault::Kind::no_item:
            return {"/item", "is required"};
        case PurchaseFault::Kind::item_type:
            return {"/item", "must be the id of an item, as text"};
        case PurchaseFault::Kind::quantity:
            return {"/quantity", fmt::format("must be a whole number from 1 to {}", units_per_purchase_max)};
        case PurchaseFault::Kind::token_type:
            return {"/token", "must be a purchase token, as text"};
        case PurchaseFault::Kind::unknown_field:
            return {pointer_step(as_utf8(fault.name.view())), "is not a field of a purchase"};
    }
    CHECK(false);
    return {};
}

// NaN and Infinity are no JSON, but some languages write them as numbers. Whoever sent
// one hears which field is wrong.
bool begins_with_no_number(std::string_view rest) {
    if (rest.substr(0, 1) == "-") rest.remove_prefix(1);
    return rest.substr(0, 3) == "NaN" || rest.substr(0, 8) == "Infinity";
}

}  // namespace

std::optional<PurchaseBody> read_purchase_body(std::string_view text) {
    json::basic_parser<Reader> parser{json::parse_options{}};
    json::error_code error;
    const size_t used = parser.write_some(false, text.data(), text.size(), error);
    Reader& reader = parser.handler();

    if (reader.has_enough) {
        if (!reader.is_object) reader.fault({PurchaseFault::Kind::no_object});
        return std::move(reader.body);
    }
    if (error) {
        // The parser stops at the letter, behind the sign if there is one.
        if (!reader.is_field() || !begins_with_no_number(text.substr(used))) return std::nullopt;
        reader.wrong_type();
        if (reader.body.faults.empty()) return std::nullopt;  // "{NaN": no field has begun
        return std::move(reader.body);
    }
    if (used != text.size()) return std::nullopt;

    if (!reader.is_object) {
        reader.fault({PurchaseFault::Kind::no_object});
    } else if (!reader.seen[static_cast<size_t>(Field::item)]) {
        reader.fault({PurchaseFault::Kind::no_item});
    }
    return std::move(reader.body);
}

std::vector<Fault> faults_of(const PurchaseBody& body) {
    std::vector<Fault> faults;
    for (const PurchaseFault& fault : body.faults) faults.push_back(in_words(fault));
    return faults;
}

}  // namespace doorbuster
