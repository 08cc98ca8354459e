// Writing answers into a connection's output.
//
// A refusal is a copy of bytes that were formatted once, at start: no allocation beyond
// the output's own growth, no JSON. The exception is a Problem, which is written for its one answer: a 422
// with pointers depends on what was sent.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/exchange.hpp"

namespace doorbuster {

// The Date line, made anew once a second rather than once a request.
class DateLine {
public:
    void set(std::chrono::sys_seconds now);
    std::string_view view() const { return {bytes_, sizeof bytes_ - 1}; }

private:
    std::chrono::sys_seconds at_{};
    char bytes_[38] = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
};

// What the connection knows about the answer's surroundings.
struct Framing {
    bool closes = false;
    bool says_keep_alive = false;  // HTTP/1.0 clients want to be told
    bool is_head = false;          // like GET, without the body
    Language language = Language::en;
    std::string_view headers = {};  // further ones, of the request's surroundings
    uint32_t retry_after_s = 1;     // 1 to retry_after_s_max, for refusals that carry one
};
constexpr uint32_t retry_after_s_max = 3;

// A refusal whose words are all known at start, formatted in each language.
class PreparedRefusal {
public:
    // In the place of a purchase that is known only when somebody is refused.
    static constexpr std::string_view any_purchase = "00000000000000000000000000000000";

    explicit PreparedRefusal(const Problem&);

    struct Bytes {
        std::string head, body;
        std::string tail = {};  // behind the purchase's digits; empty if it names none
    };
    Code code() const { return code_; }
    const Bytes& in(Language language) const { return bytes_[static_cast<size_t>(language)]; }

private:
    Code code_;
    std::array<Bytes, languages> bytes_;
};

void append_answer(std::string& out, const Response&, const Framing&, const DateLine&);
// Without a length: the body ends with the connection.
void append_stream_head(std::string& out, const Response&, std::string_view headers, const DateLine&);
void append_refusal(std::string& out, Code, const Framing&, const DateLine&);
// `headers` bring their own Retry-After, where the code has one.
void append_refusal(std::string& out, Code, std::string_view headers, const Framing&, const DateLine&);
void append_refusal(std::string& out, const Problem&, const Framing&, const DateLine&);
void append_refusal(std::string& out, const PreparedRefusal&, const PurchaseId& named, const Framing&,
                    const DateLine&);

// Formats the refusals now, so that the first buyer does not wait for it.
void prepare_refusals();

}  // namespace doorbuster
