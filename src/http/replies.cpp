#include "http/replies.hpp"

#include <fmt/format.h>

#include <array>

#include "base/check.hpp"
#include "base/log.hpp"
#include "http/gate.hpp"
#include "http/response.hpp"

namespace doorbuster {

void Replies::send(Exchange& exchange, const Response& response) {
    probe_.answered(response.status);
    exchange.answer(response);
}

void Replies::send(Exchange& exchange, const Reply& reply) {
    if (const auto* problem = std::get_if<Problem>(&reply)) return refuse(exchange, *problem);
    const auto& answer = std::get<Answer>(reply);
    send(exchange, Response{.status = answer.status, .headers = answer.headers, .body = answer.body});
}

void Replies::refuse(Exchange& exchange, Code code) {
    probe_.answered(status_of(code));
    exchange.refuse(code);
}

void Replies::refuse(Exchange& exchange, Code code, std::string_view headers) {
    probe_.answered(status_of(code));
    exchange.refuse(code, headers);
}

void Replies::refuse(Exchange& exchange, const Problem& problem) {
    probe_.answered(status_of(problem.code));
    exchange.refuse(problem);
}

void Replies::refuse(Exchange& exchange, const PreparedRefusal& refusal, const PurchaseId& named) {
    probe_.answered(status_of(refusal.code()));
    exchange.refuse(refusal, named);
}

void Replies::refuse_method(Exchange& exchange, std::string_view allow) {
    std::array<char, 64> line;
    const auto written = fmt::format_to_n(line.data(), line.size(), "Allow: {}\r\n", allow);
    CHECK(written.size <= line.size());
    refuse(exchange, Code::method_not_allowed, {line.data(), written.size});
}

void Replies::later(Exchange& exchange, Reply reply) {
    exchange.gate().post([this, &exchange, reply = std::move(reply)] { send(exchange, reply); });
}

void Replies::look_up(Exchange& exchange, std::function<Reply(Lookups::Readers&)> read) {
    const bool taken =
        services_.lookups.run([this, &exchange, read = std::move(read)](Lookups::Readers& readers) {
            later(exchange, read(readers));
        });
    if (!taken) refuse(exchange, Code::overloaded);
}

void Replies::look_up(Exchange& exchange, NegativeCache& not_found, const NegativeCache::Question& question,
                      std::function<Reply(Lookups::Readers&)> read) {
    if (not_found.is_missing(question, services_.clock.uptime())) return refuse(exchange, Code::not_found);
    const bool taken = services_.lookups.run(
        [this, &exchange, &not_found, question, read = std::move(read)](Lookups::Readers& readers) {
            exchange.gate().post([this, &exchange, &not_found, question, reply = read(readers)] {
                const auto* problem = std::get_if<Problem>(&reply);
                if (problem != nullptr && problem->code == Code::not_found) {
                    not_found.remember(question, services_.clock.uptime());
                }
                send(exchange, reply);
            });
        });
    if (!taken) refuse(exchange, Code::overloaded);
}

void Replies::on_orders_thread(Exchange& exchange, std::function<void()> task) {
    if (!services_.orders_thread.post(std::move(task))) refuse(exchange, Code::overloaded);
}

Problem failed_store(const StoreError& error) {
    // A store that is away comes back by itself: whoever asks again finds it.
    const bool is_away = error.code == StoreErrc::unavailable || error.outcome_unknown;
    if (is_away) {
        log_warn("a request waits for the store", {{"error", error.text()}});
        return {error.outcome_unknown ? Code::unknown : Code::overloaded};
    }
    log_error("a request failed at the store", {{"error", error.text()}});
    return {Code::internal};
}

}  // namespace doorbuster
