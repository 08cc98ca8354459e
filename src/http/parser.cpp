#include "http/parser.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <cstring>

#include "base/words.hpp"

namespace doorbuster {

namespace {

namespace http = boost::beast::http;

class HeadParser final : public http::basic_parser<true> {
public:
    explicit HeadParser(Head& head) : head_(head) {
        header_limit(UINT32_MAX);  // HeadScan has seen to it,
        body_limit(boost::none);   // and the connection to this
    }

private:
    using Error = boost::beast::error_code;
    using View = boost::beast::string_view;

    static std::string_view plain(View text) { return {text.data(), text.size()}; }

    void on_request_impl(http::verb method, View, View target, int version, Error& error) override {
        switch (method) {
            case http::verb::get:
                head_.request.method = Method::get;
                break;
            case http::verb::head:
                head_.request.method = Method::head;
                break;
            case http::verb::post:
                head_.request.method = Method::post;
                break;
            case http::verb::put:
                head_.request.method = Method::put;
                break;
            case http::verb::delete_:
                head_.request.method = Method::del;
                break;
            case http::verb::patch:
                head_.request.method = Method::patch;
                break;
            case http::verb::options:
                head_.request.method = Method::options;
                break;
            default:
                head_.request.method = Method::other;
        }
        head_.is_http10 = version == 10;
        // Absolute targets are for proxies, `*` and authorities for methods we do not know.
        if (target.empty() || target.front() != '/') error = http::error::bad_target;
        std::string_view rest = plain(target);
        head_.request.path = cut(rest, '?');
        head_.request.query = rest;
    }

    void on_field_impl(http::field field, View name, View value_view, Error& error) override {
        Request& request = head_.request;
        const std::string_view value = plain(value_view);
        bool good = true;
        switch (field) {
            case http::field::host:
                good = ++hosts_ == 1;
                request.host = value;
                break;
            case http::field::content_length:
                good = ++content_lengths_ == 1 &&
                       value.find_first_not_of("0123456789") == std::string_view::npos;
                break;
            case http::field::transfer_encoding:
                head_.is_chunked = true;
                good = ++transfer_encodings_ == 1 && !head_.is_http10 && equal_words(value, "chunked");
                break;
            case http::field::expect:
                head_.expects_continue = true;
                good = equal_words(value, "100-continue");
                break;
            case http::field::authorization:
                good = set_once(request.authorization, value);
                break;
            case http::field::content_type:
                good = set_once(request.content_type, value);
                break;
            case http::field::if_match:
                good = set_once(request.if_match, value);
                break;
            case http::field::if_none_match:
                good = set_once(request.if_none_match, value);
                break;
            case http::field::accept:
                set_once(request.accept, value);
                break;
            case http::field::accept_language:
                set_once(request.accept_language, value);
                break;
            case http::field::accept_encoding:
                set_once(request.accept_encoding, value);
                break;
            case http::field::access_control_request_method:
                set_once(request.access_control_request_method, value);
                break;
            case http::field::origin:
                good = set_once(request.origin, value);
                break;
            case http::field::cookie:
                good = set_once(request.cookie, value);
                break;
            case http::field::unknown:
                if (equal_words(plain(name), "Idempotency-Key"))
                    good = set_once(request.idempotency_key, value);
                if (equal_words(plain(name), "X-Forwarded-For")) add_forwarded(request, value);
                if (equal_words(plain(name), "Last-Event-ID")) set_once(request.last_event_id, value);
                if (equal_words(plain(name), "webhook-id")) good = set_once(request.webhook_id, value);
                if (equal_words(plain(name), "webhook-timestamp"))
                    good = set_once(request.webhook_timestamp, value);
                if (equal_words(plain(name), "webhook-signature"))
                    good = set_once(request.webhook_signature, value);
                break;
            default:
                break;
        }
        if (!good) error = http::error::bad_value;
    }

    void on_header_impl(Error& error) override {
        if (hosts_ == 0 && !head_.is_http10) error = http::error::bad_field;
        if (content_lengths_ > 0 && transfer_encodings_ > 0) error = http::error::bad_content_length;
        head_.expects_continue = head_.expects_continue && !head_.is_http10;
    }

    // An empty value counts as seen, too: its view is not null.
    static bool set_once(std::string_view& into, std::string_view value) {
        if (into.data() != nullptr) return false;
        into = value;
        return true;
    }

    // Beyond the bound the earliest go: the nearest proxies have spoken last.
    static void add_forwarded(Request& request, std::string_view value) {
        if (request.forwarded_lines == request.forwarded_for.size()) {
            std::shift_left(request.forwarded_for.begin(), request.forwarded_for.end(), 1);
            --request.forwarded_lines;
        }
        request.forwarded_for[request.forwarded_lines++] = value;
    }

    // Never called: the connection reads the body itself.
    void on_response_impl(int, View, int, Error&) override {}
    void on_body_init_impl(const boost::optional<uint64_t>&, Error&) override {}
    size_t on_body_impl(View, Error&) override { return 0; }
    void on_chunk_header_impl(uint64_t, View, Error&) override {}
    size_t on_chunk_body_impl(uint64_t, View, Error&) override { return 0; }
    void on_finish_impl(Error&) override {}

    Head& head_;
    int hosts_ = 0, content_lengths_ = 0, transfer_encodings_ = 0;
};

}  // namespace

HeadScan::Found HeadScan::scan(std::string_view bytes, const Limits& limits) {
    using enum Found;
    for (;;) {
        const auto* feed =
            static_cast<const char*>(std::memchr(bytes.data() + searched_, '\n', bytes.size() - searched_));
        if (feed == nullptr) {
            searched_ = bytes.size();
            return searched_ > limits.bytes_max ? too_large : more_needed;
        }
        const size_t at = static_cast<size_t>(feed - bytes.data());
        searched_ = at + 1;
        if (searched_ > limits.bytes_max) return too_large;
        if (at == 0 || bytes[at - 1] != '\r') return malformed;
        if (line_ == at - 1) return lines_ == 0 ? malformed : complete;
        if (lines_ > 0 && (bytes[line_] == ' ' || bytes[line_] == '\t')) return malformed;  // folded
        if (++lines_ > limits.fields_max + 1) return too_large;
        line_ = at + 1;
    }
}

bool parse_head(std::string_view text, Head& head) {
    head = {};
    HeadParser parser(head);
    boost::beast::error_code error;
    const size_t used = parser.put(boost::asio::const_buffer(text.data(), text.size()), error);
    if (error || !parser.is_header_done() || used != text.size()) return false;
    head.request.keep_alive = parser.keep_alive();
    head.content_length = parser.content_length().value_or(0);
    return true;
}

}  // namespace doorbuster
