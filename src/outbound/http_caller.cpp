#include "outbound/http_caller.hpp"

#include <array>
#include <string_view>

#include "base/check.hpp"
#include "outbound/judged_socket.hpp"

namespace doorbuster {

namespace {

constexpr auto failed = boost::system::in_place_error;

struct FreeHandle {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeHeaders {
    void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};
using Handle = std::unique_ptr<CURL, FreeHandle>;
using Headers = std::unique_ptr<curl_slist, FreeHeaders>;

struct Body {
    const size_t bytes_max;
    std::string text{};
    bool is_too_large = false;
};

size_t take_part(char* bytes, size_t, size_t size, void* into) {
    Body& body = *static_cast<Body*>(into);
    body.is_too_large = body.is_too_large || size > body.bytes_max - body.text.size();
    if (body.is_too_large) return 0;
    body.text.append(bytes, size);
    return size;
}

// Once per process, and never undone: other threads may use the library until the end.
void set_library_up() {
    static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(done == CURLE_OK);
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
    CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

Headers headers_of(const HttpCall& call) {
    // No "Expect: 100-continue": many a server never answers it, and the call would wait.
    curl_slist* list = curl_slist_append(nullptr, "Expect:");
    CHECK(list != nullptr);
    for (const std::string& header : call.headers) {
        CHECK(curl_slist_append(list, header.c_str()) != nullptr);
    }
    return Headers(list);
}

void set_request(CURL* to, const HttpCall& call) {
    set(to, CURLOPT_URL, call.url.c_str());
    if (call.method == "GET" && call.body.empty()) return;
    set(to, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    set(to, CURLOPT_POSTFIELDS, call.body.c_str());  // not copied: the call outlives the handle
    set(to, CURLOPT_CUSTOMREQUEST, call.method.c_str());
}

void set_bounds(CURL* to, const HttpCall& call) {
    set(to, CURLOPT_PROTOCOLS_STR, "http,https");
    set(to, CURLOPT_FOLLOWLOCATION, call.redirects_max > 0 ? 1L : 0L);
    set(to, CURLOPT_MAXREDIRS, call.redirects_max);
    set(to, CURLOPT_REDIR_PROTOCOLS_STR, call.url.starts_with("http://") ? "http,https" : "https");
    set(to, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(call.connect_max.count()));
    set(to, CURLOPT_TIMEOUT_MS, static_cast<long>(call.total_max.count()));
    set(to, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(call.answer_bytes_max));
    set(to, CURLOPT_NOSIGNAL, 1L);
    set(to, CURLOPT_QUICK_EXIT, 1L);  // a name server that does not answer must not hold up the end
    if (!call.environment_proxy_allowed || !call.private_addresses_allowed) set(to, CURLOPT_PROXY, "");
}

bool has_line_break(const HttpCall& call) {
    constexpr std::string_view breaks("\r\n\0", 3);
    if (call.method.find_first_of(breaks) != std::string::npos) return true;
    for (const std::string& header : call.headers) {
        if (header.find_first_of(breaks) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

HttpCaller::HttpCaller() : multi_((set_library_up(), curl_multi_init())) {
    CHECK(multi_ != nullptr);
}

void HttpCaller::cancel() {
    cancelled_ = true;
    curl_multi_wakeup(multi_.get());
}

Result<HttpAnswer, std::string> HttpCaller::run(const HttpCall& call) {
    using Answered = Result<HttpAnswer, std::string>;
    if (has_line_break(call)) return Answered(failed, "a header of the call holds a line break");

    Body body{.bytes_max = call.answer_bytes_max};
    JudgedSocket judge;
    std::array<char, CURL_ERROR_SIZE> reason{};
    const Headers headers = headers_of(call);
    const Handle handle(curl_easy_init());
    CHECK(handle);
    CURL* to = handle.get();
    set_request(to, call);
    set_bounds(to, call);
    set(to, CURLOPT_USERAGENT, "doorbuster");
    set(to, CURLOPT_HTTPHEADER, headers.get());
    set(to, CURLOPT_WRITEFUNCTION, &take_part);
    set(to, CURLOPT_WRITEDATA, static_cast<void*>(&body));
    set(to, CURLOPT_ERRORBUFFER, reason.data());
    if (call.private_addresses_allowed) {
        has_dialled_unjudged_ = true;
    } else {
        set(to, CURLOPT_OPENSOCKETFUNCTION, &JudgedSocket::open);
        set(to, CURLOPT_OPENSOCKETDATA, static_cast<void*>(&judge));
        if (has_dialled_unjudged_) set(to, CURLOPT_FRESH_CONNECT, 1L);
    }

    CHECK(curl_multi_add_handle(multi_.get(), to) == CURLM_OK);
    int running = 1;
    while (running != 0 && !cancelled_) {
        CHECK(curl_multi_perform(multi_.get(), &running) == CURLM_OK);
        if (running != 0) curl_multi_poll(multi_.get(), nullptr, 0, 1000, nullptr);
    }
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi_.get(), &left);
    const bool is_done = message != nullptr && message->msg == CURLMSG_DONE;
    const CURLcode outcome = is_done ? message->data.result : CURLE_ABORTED_BY_CALLBACK;
    long status = 0;
    curl_easy_getinfo(to, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi_.get(), to);

    if (!is_done) return Answered(failed, "it was cancelled");
    if (body.is_too_large || outcome == CURLE_FILESIZE_EXCEEDED) {
        return Answered(failed,
                        "the answer is larger than " + std::to_string(call.answer_bytes_max) + " bytes");
    }
    if (outcome == CURLE_OK) return HttpAnswer{.status = status, .body = std::move(body.text)};
    if (judge.has_refused()) return Answered(failed, "the name leads to a private address");
    return Answered(failed, reason.front() != '\0' ? reason.data() : curl_easy_strerror(outcome));
}

}  // namespace doorbuster
