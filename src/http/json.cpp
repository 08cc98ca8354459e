#include "http/json.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <set>
#include <vector>

#include "base/rfc3339.hpp"
#include "base/words.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

// Passes over a document and stops at a key that its object has already.
struct KeysAreUnique {
    static constexpr size_t max_object_size = size_t(-1);
    static constexpr size_t max_array_size = size_t(-1);
    static constexpr size_t max_key_size = size_t(-1);
    static constexpr size_t max_string_size = size_t(-1);
    using Error = json::error_code;

    std::vector<std::set<std::string>> objects;  // bound: the parser's max_depth
    std::string key;

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    bool on_object_begin(Error&) {
        objects.emplace_back();
        return true;
    }
    bool on_object_end(size_t, Error&) {
        objects.pop_back();
        return true;
    }
    bool on_array_begin(Error&) { return true; }
    bool on_array_end(size_t, Error&) { return true; }
    bool on_key_part(json::string_view part, size_t, Error&) {
        key.append(part.data(), part.size());
        return true;
    }
    bool on_key(json::string_view part, size_t, Error& error) {
        key.append(part.data(), part.size());
        if (!objects.back().insert(key).second) {
            error = json::error::syntax;
            return false;
        }
        key.clear();
        return true;
    }
    bool on_string_part(json::string_view, size_t, Error&) { return true; }
    bool on_string(json::string_view, size_t, Error&) { return true; }
    bool on_number_part(json::string_view, Error&) { return true; }
    bool on_int64(int64_t, json::string_view, Error&) { return true; }
    bool on_uint64(uint64_t, json::string_view, Error&) { return true; }
    bool on_double(double, json::string_view, Error&) { return true; }
    bool on_bool(bool, Error&) { return true; }
    bool on_null(Error&) { return true; }
    bool on_comment_part(json::string_view, Error&) { return true; }
    bool on_comment(json::string_view, Error&) { return true; }
};

// The length of the well-formed UTF-8 sequence at the beginning, 0 if there is none.
size_t sequence_size(std::string_view bytes) {
    const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const auto continues = [&](size_t i) { return i < bytes.size() && (at(i) & 0xc0) == 0x80; };
    const unsigned char first = at(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        if (!continues(1) || !continues(2)) return 0;
        if (first == 0xe0 && at(1) < 0xa0) return 0;  // overlong
        if (first == 0xed && at(1) > 0x9f) return 0;  // a surrogate
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        if (!continues(1) || !continues(2) || !continues(3)) return 0;
        if (first == 0xf0 && at(1) < 0x90) return 0;  // overlong
        if (first == 0xf4 && at(1) > 0x8f) return 0;  // above U+10FFFF
        return 4;
    }
    return 0;
}

}  // namespace

std::optional<json::value> parse_json(std::string_view text) {
    json::error_code error;
    json::basic_parser<KeysAreUnique> keys{json::parse_options{}};
    const size_t used = keys.write_some(false, text.data(), text.size(), error);
    if (error || used != text.size()) return std::nullopt;

    json::value value = json::parse({text.data(), text.size()}, error);
    if (error) return std::nullopt;
    return value;
}

void put_instant(json::object& into, std::string_view name, Instant at) {
    into[name] = format_rfc3339(at);
    into[std::string(name) + "_ms"] = to_ms(at);
}

std::string as_utf8(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        const size_t size = sequence_size(bytes);
        text.append(size == 0 ? "\xef\xbf\xbd" : bytes.substr(0, size));
        bytes.remove_prefix(size == 0 ? 1 : size);
    }
    return text;
}

std::string pointer_step(std::string_view key) {
    std::string step = "/";
    for (const char c : key) {
        if (c == '~') {
            step += "~0";
        } else if (c == '/') {
            step += "~1";
        } else {
            step += c;
        }
    }
    return step;
}

bool is_json_type(std::string_view content_type) {
    if (content_type.empty()) return true;
    return equal_words(trim(content_type.substr(0, content_type.find(';'))), "application/json");
}

}  // namespace doorbuster
