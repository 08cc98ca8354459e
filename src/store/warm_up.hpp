// WarmUp: what stands between a warming sale and `ready`, as its backend sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/orders.hpp"

namespace doorbuster {

enum class Severity : uint8_t {
    warning,  // worth mending; the sale may open all the same
    failure,  // keeps the sale from `ready`
};

constexpr std::string_view name_of(Severity severity) {
    return severity == Severity::failure ? "failure" : "warning";
}

struct WarmUpFinding {
    std::string check;  // a stable name, for programs: redis.eviction
    Severity severity = Severity::failure;
    std::string what;  // what is wrong, in a sentence
    std::string mend;  // the command or the setting to change

    // The figures in the sentences may differ from one look to the next.
    bool is_same_as(const WarmUpFinding& other) const {
        return check == other.check && severity == other.severity;
    }
};

using WarmUpFindings = std::vector<WarmUpFinding>;

inline bool is_warm(const WarmUpFindings& findings) {
    return std::ranges::none_of(findings, [](const auto& one) { return one.severity == Severity::failure; });
}

// Asked on the orders thread, about once a second while a sale is warming: it must not wait for anybody.
// The sale is ready when what it answers is_warm. An empty function: there is nothing to wait for.
using WarmUp = std::function<WarmUpFindings(const SaleRecord&)>;

}  // namespace doorbuster
