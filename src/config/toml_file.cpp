#include "config/toml_file.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "config/text_file.hpp"

namespace doorbuster {

namespace {

constexpr size_t file_bytes_max = 1 << 20;

RawValue raw_value_of(const toml::node& node) {
    if (const auto* yes = node.as_boolean()) return yes->get();
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* text = node.as_string()) return text->get();
    if (node.is_floating_point()) return UnusableValue{"a fraction"};
    if (node.is_array()) return UnusableValue{"an array"};
    if (node.is_table()) return UnusableValue{"a table"};
    return UnusableValue{"a date or time"};
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& into) {
    for (const auto& [key, node] : table) {
        const std::string name = prefix + std::string(key.str());
        const toml::table* inner = node.as_table();
        if (inner != nullptr && !inner->empty()) {
            flatten(*inner, name + '.', into);
        } else {
            const bool is_heading = inner != nullptr && prefix.empty();
            into.push_back({name, raw_value_of(node), key.source().begin.line, is_heading});
        }
    }
}

}  // namespace

Result<std::vector<TomlEntry>, std::string> read_toml_file(const std::string& path) {
    const auto text = read_text_file(path, file_bytes_max);
    if (!text) return "cannot read the configuration file '" + path + "': " + text.error();
    toml::table table;
    try {
        table = toml::parse(*text);
    } catch (const toml::parse_error& error) {
        return path + ':' + std::to_string(error.source().begin.line) + ": " +
               std::string(error.description());
    }
    std::vector<TomlEntry> entries;
    flatten(table, "", entries);
    std::ranges::stable_sort(entries, {}, &TomlEntry::line);
    return entries;
}

std::string toml_quoted(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += "\\u00";
            quoted += digits[byte >> 4];
            quoted += digits[byte & 15];
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

}  // namespace doorbuster
