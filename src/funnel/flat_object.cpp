#include "funnel/flat_object.hpp"

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>

#include "base/check.hpp"
#include "base/json_names.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr size_t depth_max = 8, fields_max = 8;

struct Reader {
    static constexpr size_t max_object_size = size_t(-1);
    static constexpr size_t max_array_size = size_t(-1);
    static constexpr size_t max_key_size = size_t(-1);
    static constexpr size_t max_string_size = size_t(-1);
    using Error = json::error_code;

    explicit Reader(std::span<FlatField> wanted) : fields(wanted) {}

    std::span<FlatField> fields;
    std::array<size_t, fields_max> used{};
    JsonNames names;
    bool is_object = false;
    FlatField* field = nullptr;  // the one whose value comes
    std::array<char, flat_name_bytes_max> key;
    size_t key_size = 0;
    bool key_overlong = false;
    std::array<char, flat_name_bytes_max> other;
    size_t other_size = 0;
    bool has_other = false;

    bool is_field() const { return names.depth() == 1 && is_object; }
    void found(FlatField::Kind kind) {
        if (is_field() && field != nullptr) field->kind = kind;
    }

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    static bool fail(Error& error) {
        error = json::error::syntax;
        return false;
    }
    bool on_object_begin(Error& error) {
        if (names.depth() == 0) is_object = true;
        // Not yet inside: the outermost object is nobody's value.
        found(FlatField::Kind::anything);
        return names.enter_object() || fail(error);
    }
    bool on_object_end(size_t, Error&) {
        names.leave();
        return true;
    }
    bool on_array_begin(Error& error) {
        found(FlatField::Kind::anything);
        return names.enter_list() || fail(error);
    }
    bool on_array_end(size_t, Error&) {
        names.leave();
        return true;
    }

    void add_key(json::string_view part) {
        const size_t taken = std::min(part.size(), key.size() - key_size);
        std::copy_n(part.data(), taken, key.data() + key_size);
        key_size += taken;
        key_overlong = key_overlong || taken < part.size();
    }
    bool on_key_part(json::string_view part, size_t, Error&) {
        names.add(part);
        if (is_field()) add_key(part);
        return true;
    }
    bool on_key(json::string_view part, size_t, Error& error) {
        names.add(part);
        if (names.end() != JsonNames::Name::fresh) return fail(error);
        if (!is_field()) return true;
        add_key(part);
        const std::string_view name(key.data(), key_size);
        const auto at = std::find_if(fields.begin(), fields.end(), [&](const FlatField& wanted) {
            return !key_overlong && wanted.name == name;
        });
        field = at == fields.end() ? nullptr : &*at;
        if (field == nullptr && !has_other) {
            other = key;
            other_size = key_size;
            has_other = true;
        }
        key_size = 0;
        key_overlong = false;
        return true;
    }

    void add_text(json::string_view part) {
        if (!is_field() || field == nullptr) return;
        size_t& size = used[static_cast<size_t>(field - fields.data())];
        if (part.size() > field->room.size() - size) {
            field->overlong = true;
            return;
        }
        std::copy_n(part.data(), part.size(), field->room.data() + size);
        size += part.size();
    }
    bool on_string_part(json::string_view part, size_t, Error&) {
        add_text(part);
        return true;
    }
    bool on_string(json::string_view part, size_t, Error&) {
        add_text(part);
        found(FlatField::Kind::text);
        if (is_field() && field != nullptr && !field->overlong)
            field->value = {field->room.data(), used[static_cast<size_t>(field - fields.data())]};
        return true;
    }

    bool on_number_part(json::string_view, Error&) { return true; }
    bool on_int64(int64_t number, json::string_view text, Error&) {
        // "-0" is the one number below that is not negative.
        const bool is_whole = number > 0 || (number == 0 && text == "0");
        found(is_whole ? FlatField::Kind::whole : FlatField::Kind::anything);
        if (is_whole && is_field() && field != nullptr) field->number = number;
        return true;
    }
    bool on_uint64(uint64_t, json::string_view, Error&) {
        found(FlatField::Kind::anything);
        return true;
    }
    bool on_double(double, json::string_view, Error&) {
        found(FlatField::Kind::anything);
        return true;
    }
    bool on_bool(bool, Error&) {
        found(FlatField::Kind::anything);
        return true;
    }
    bool on_null(Error&) {
        found(FlatField::Kind::anything);
        return true;
    }
    bool on_comment_part(json::string_view, Error&) { return true; }
    bool on_comment(json::string_view, Error&) { return true; }
};

}  // namespace

FlatReading read_flat_object(std::string_view text, std::span<FlatField> fields,
                             std::span<char, flat_name_bytes_max> names) {
    CHECK(fields.size() <= fields_max);
    json::parse_options options;
    options.max_depth = depth_max;
    json::basic_parser<Reader> parser{options, fields};
    json::error_code error;
    const size_t used = parser.write_some(false, text.data(), text.size(), error);
    if (error || used != text.size()) return {.fault = FlatFault::malformed};
    const Reader& reader = parser.handler();
    if (!reader.is_object) return {.fault = FlatFault::not_an_object};
    if (!reader.has_other) return {};
    std::copy_n(reader.other.data(), reader.other_size, names.data());
    return {.other_name = std::string_view(names.data(), reader.other_size)};
}

}  // namespace doorbuster
