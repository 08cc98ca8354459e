#include "http/list_path.hpp"

#include "base/check.hpp"
#include "base/percent.hpp"
#include "base/words.hpp"

namespace doorbuster {

Result<ListEntry, Problem> entry_in(std::string_view path) {
    CHECK(path.starts_with(lists_path));
    std::string_view rest = path.substr(lists_path.size());
    if (!rest.starts_with('/')) return Problem{Code::not_found};
    rest.remove_prefix(1);
    const std::string_view list = cut(rest, '/'), kind = cut(rest, '/');
    const bool is_list = list == "block" || list == "allow", is_kind = kind == "address" || kind == "buyer";
    if (!is_list || !is_kind || rest.empty()) return Problem{Code::not_found};
    const auto value = percent_decoded(rest);
    if (!value) {
        return Problem{.code = Code::invalid,
                       .faults = {{"", "a '%' in the path must be followed by two hexadecimal digits"}}};
    }
    auto entry = ListEntry::from(list, kind, *value);
    if (!entry) return Problem{.code = Code::invalid, .faults = {{"", std::move(entry.error())}}};
    return *std::move(entry);
}

}  // namespace doorbuster
