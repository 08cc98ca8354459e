// What reconcile and replay have in common: a question about one sale, whose answer says whether
// the records agree.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/admin_desk.hpp"

namespace doorbuster {

struct AuditAnswer {
    std::string body;
    boost::json::object object;
    bool agrees = false;

    int exit_code() const { return agrees ? exit_ok : exit_differs; }
};

// "/v1/sales/ID" + rest; nothing, and told to the person, for a name that no sale can have.
std::optional<std::string> sale_path(CliRun&, const std::string& sale, std::string_view rest);

// Nothing: told to the person, and desk.code() is the exit code. `what` names the answer: "a replay".
std::optional<AuditAnswer> ask_audit(CliRun&, AdminDesk&, AdminCall call, std::string_view what);

}  // namespace doorbuster
