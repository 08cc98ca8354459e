#include "load/answers.hpp"

#include <charconv>

namespace doorbuster::load {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && end != text.data();
}

}  // namespace

HeadFound read_answer_head(std::string_view bytes, AnswerHead& head) {
    constexpr std::string_view begin = "HTTP/1.1 ", end = "\r\n\r\n", length_name = "\r\nContent-Length: ";
    const size_t head_end = bytes.find(end);
    if (head_end == std::string_view::npos) return HeadFound::more_needed;
    const std::string_view lines = bytes.substr(0, head_end + 2);
    const size_t length_at = lines.find(length_name);
    size_t body_size = 0;
    if (!lines.starts_with(begin) || length_at == std::string_view::npos ||
        !read_number(lines.substr(begin.size()), head.status) ||
        !read_number(lines.substr(length_at + length_name.size()), body_size) || head.status < 100 ||
        head.status > 599) {
        return HeadFound::malformed;
    }
    head.size = head_end + end.size() + body_size;
    return HeadFound::complete;
}

}  // namespace doorbuster::load
