#include "http/response.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "http/language.hpp"

namespace doorbuster {

namespace {

std::string_view status_line(int status) {
    switch (status) {
        case 200:
            return "HTTP/1.1 200 OK\r\n";
        case 201:
            return "HTTP/1.1 201 Created\r\n";
        case 202:
            return "HTTP/1.1 202 Accepted\r\n";
        case 204:
            return "HTTP/1.1 204 No Content\r\n";
        case 304:
            return "HTTP/1.1 304 Not Modified\r\n";
        case 400:
            return "HTTP/1.1 400 Bad Request\r\n";
        case 401:
            return "HTTP/1.1 401 Unauthorized\r\n";
        case 403:
            return "HTTP/1.1 403 Forbidden\r\n";
        case 404:
            return "HTTP/1.1 404 Not Found\r\n";
        case 405:
            return "HTTP/1.1 405 Method Not Allowed\r\n";
        case 408:
            return "HTTP/1.1 408 Request Timeout\r\n";
        case 409:
            return "HTTP/1.1 409 Conflict\r\n";
        case 412:
            return "HTTP/1.1 412 Precondition Failed\r\n";
        case 413:
            return "HTTP/1.1 413 Content Too Large\r\n";
        case 415:
            return "HTTP/1.1 415 Unsupported Media Type\r\n";
        case 422:
            return "HTTP/1.1 422 Unprocessable Content\r\n";
        case 428:
            return "HTTP/1.1 428 Precondition Required\r\n";
        case 429:
            return "HTTP/1.1 429 Too Many Requests\r\n";
        case 431:
            return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
        case 500:
            return "HTTP/1.1 500 Internal Server Error\r\n";
        case 503:
            return "HTTP/1.1 503 Service Unavailable\r\n";
        default:
            break;
    }
    CHECK(!"a status without a reason phrase: add its line above");
    return {};
}

constexpr std::array<std::string_view, retry_after_s_max> retry_after_lines{
    "Retry-After: 1\r\n", "Retry-After: 2\r\n", "Retry-After: 3\r\n"};
// Nobody opens a closed door again within seconds.
constexpr std::array<std::string_view, retry_after_s_max> retry_much_later_lines{
    "Retry-After: 30\r\n", "Retry-After: 45\r\n", "Retry-After: 60\r\n"};

void append_number(std::string& out, size_t number) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, static_cast<size_t>(end - digits));
}

void append_rest(std::string& out, std::string_view body, const Framing& framing, const DateLine& date) {
    out += date.view();
    out += framing.headers;
    if (framing.closes) {
        out += "Connection: close\r\n";
    } else if (framing.says_keep_alive) {
        out += "Connection: keep-alive\r\n";
    }
    out += "\r\n";
    if (!framing.is_head) out += body;
}

// Status line and the fields that depend on code, language and length alone.
void append_problem_head(std::string& out, Code code, Language language, size_t body_size) {
    out += status_line(status_of(code));
    out += "Content-Type: application/problem+json\r\nContent-Language: ";
    out += tag_of(language);
    out += "\r\nCache-Control: no-store\r\nContent-Length: ";
    append_number(out, body_size);
    out += "\r\n";
    if (code == Code::unauthenticated) out += "WWW-Authenticate: Bearer\r\n";
}

// The plain ones, by code.
const std::vector<PreparedRefusal>& refusals() {
    static const std::vector<PreparedRefusal> prepared = [] {
        std::vector<PreparedRefusal> table;
        for (size_t code = 0; code < codes; ++code) {
            table.push_back(PreparedRefusal({.code = static_cast<Code>(code)}));
        }
        return table;
    }();
    return prepared;
}

void append_hex(std::string& out, const PurchaseId& purchase) {
    for (const uint8_t byte : purchase.bytes) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
}

std::string_view retry_after_of(Code code, const Framing& framing) {
    if (!carries_retry_after(code)) return {};
    const auto& lines = code == Code::unavailable ? retry_much_later_lines : retry_after_lines;
    return lines[framing.retry_after_s - 1];
}

}  // namespace

PreparedRefusal::PreparedRefusal(const Problem& problem) : code_(problem.code) {
    for (size_t i = 0; i < languages; ++i) {
        const Language language = static_cast<Language>(i);
        Bytes& bytes = bytes_[i];
        bytes.body = problem_body(problem, language);
        append_problem_head(bytes.head, code_, language, bytes.body.size());
        if (problem.purchase.empty()) continue;
        CHECK(problem.purchase == any_purchase);
        const size_t at = bytes.body.find(any_purchase);
        bytes.tail = bytes.body.substr(at + any_purchase.size());
        bytes.body.resize(at);
    }
}

void DateLine::set(std::chrono::sys_seconds now) {
    if (now == at_) return;
    at_ = now;
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    // The C locale's names, which are HTTP's: the product never sets another.
    char bytes[64];
    const size_t size = std::strftime(bytes, sizeof bytes, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    CHECK(size == view().size());
    std::memcpy(bytes_, bytes, size);
}

void append_answer(std::string& out, const Response& response, const Framing& framing, const DateLine& date) {
    const bool has_body = response.status != 204 && response.status != 304;
    out += status_line(response.status);
    if (has_body) {
        out += "Content-Type: ";
        out += response.content_type;
        out += "\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ";
        append_number(out, response.body.size());
        out += "\r\n";
    }
    out += response.headers;
    append_rest(out, has_body ? response.body : std::string_view{}, framing, date);
}

void append_stream_head(std::string& out, const Response& response, std::string_view headers,
                        const DateLine& date) {
    out += status_line(response.status);
    out += "Content-Type: ";
    out += response.content_type;
    out += "\r\nX-Content-Type-Options: nosniff\r\n";
    out += response.headers;
    append_rest(out, {}, {.closes = true, .headers = headers}, date);
}

void append_refusal(std::string& out, Code code, const Framing& framing, const DateLine& date) {
    append_refusal(out, code, retry_after_of(code, framing), framing, date);
}

void append_refusal(std::string& out, Code code, std::string_view headers, const Framing& framing,
                    const DateLine& date) {
    const PreparedRefusal::Bytes& bytes = refusals()[static_cast<size_t>(code)].in(framing.language);
    out += bytes.head;
    out += headers;
    append_rest(out, bytes.body, framing, date);
}

void append_refusal(std::string& out, const Problem& problem, const Framing& framing, const DateLine& date) {
    const std::string body = problem_body(problem, framing.language);
    append_problem_head(out, problem.code, framing.language, body.size());
    out += retry_after_of(problem.code, framing);
    append_rest(out, body, framing, date);
}

void append_refusal(std::string& out, const PreparedRefusal& refusal, const PurchaseId& named,
                    const Framing& framing, const DateLine& date) {
    const PreparedRefusal::Bytes& bytes = refusal.in(framing.language);
    out += bytes.head;
    out += retry_after_of(refusal.code(), framing);
    append_rest(out, bytes.body, framing, date);
    if (framing.is_head || bytes.tail.empty()) return;
    append_hex(out, named);
    out += bytes.tail;
}

void prepare_refusals() {
    refusals();
}

}  // namespace doorbuster
