#include "cli/audit_question.hpp"

#include <boost/json/parse.hpp>

#include "sale/ids.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

// Every record of the sale is gone through.
constexpr std::chrono::seconds patience{600};

}  // namespace

std::optional<std::string> sale_path(CliRun& run, const std::string& sale, std::string_view rest) {
    if (is_slug(sale)) return "/v1/sales/" + sale + std::string(rest);
    run.fail("'" + sale + "' is not a sale's id: lower-case letters, digits and inner hyphens", exit_usage);
    return std::nullopt;
}

std::optional<AuditAnswer> ask_audit(CliRun& run, AdminDesk& desk, AdminCall call, std::string_view what) {
    call.method = "POST";
    call.deadline = patience;
    const auto answer = desk.ask(call);
    if (!answer) return std::nullopt;
    boost::system::error_code error;
    const json::value parsed = json::parse(answer->body, error);
    const json::object* object = error ? nullptr : parsed.if_object();
    const json::value* agrees = object == nullptr ? nullptr : object->if_contains("agrees");
    if (agrees == nullptr || !agrees->is_bool()) {
        run.fail("the server's answer is not " + std::string(what) + ": is it a Doorbuster?");
        return std::nullopt;
    }
    return AuditAnswer{answer->body, *object, agrees->get_bool()};
}

}  // namespace doorbuster
