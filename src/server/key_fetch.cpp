#include "server/key_fetch.hpp"

#include "base/check.hpp"
#include "funnel/jwks.hpp"

namespace doorbuster {

namespace {

constexpr auto failed = boost::system::in_place_error;

struct FreeHandle {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeHeaders {
    void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};

struct Body {
    std::string text;
    bool is_too_large = false;
};

size_t take_part(char* bytes, size_t, size_t size, void* into) {
    Body& body = *static_cast<Body*>(into);
    body.is_too_large = body.is_too_large || size > jwks_bytes_max - body.text.size();
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

}  // namespace

KeyFetch::KeyFetch() : multi_((set_library_up(), curl_multi_init())) {
    CHECK(multi_ != nullptr);
}

void KeyFetch::cancel() {
    cancelled_ = true;
    curl_multi_wakeup(multi_.get());
}

Result<std::string, std::string> KeyFetch::fetch(const std::string& url) {
    using Fetched = Result<std::string, std::string>;
    Body body;
    std::array<char, CURL_ERROR_SIZE> reason{};
    const std::unique_ptr<curl_slist, FreeHeaders> headers(
        curl_slist_append(nullptr, "Accept: application/jwk-set+json, application/json"));
    const std::unique_ptr<CURL, FreeHandle> handle(curl_easy_init());
    CHECK(handle && headers);
    CURL* to = handle.get();
    set(to, CURLOPT_URL, url.c_str());
    set(to, CURLOPT_PROTOCOLS_STR, "http,https");
    set(to, CURLOPT_FOLLOWLOCATION, 1L);
    set(to, CURLOPT_MAXREDIRS, redirects_max);
    set(to, CURLOPT_REDIR_PROTOCOLS_STR, url.starts_with("http://") ? "http,https" : "https");
    set(to, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_max.count()));
    set(to, CURLOPT_TIMEOUT_MS, static_cast<long>(total_max.count()));
    set(to, CURLOPT_MAXFILESIZE, static_cast<long>(jwks_bytes_max));
    set(to, CURLOPT_NOSIGNAL, 1L);
    set(to, CURLOPT_QUICK_EXIT, 1L);  // a name server that does not answer must not hold up the end
    set(to, CURLOPT_USERAGENT, "doorbuster");
    set(to, CURLOPT_HTTPHEADER, headers.get());
    set(to, CURLOPT_WRITEFUNCTION, &take_part);
    set(to, CURLOPT_WRITEDATA, static_cast<void*>(&body));
    set(to, CURLOPT_ERRORBUFFER, reason.data());

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
    curl_multi_remove_handle(multi_.get(), to);

    if (!is_done) return Fetched(failed, "it was cancelled");
    if (body.is_too_large || outcome == CURLE_FILESIZE_EXCEEDED) {
        return Fetched(failed, "the answer is larger than " + std::to_string(jwks_bytes_max) + " bytes");
    }
    if (outcome != CURLE_OK) {
        return Fetched(failed, reason.front() != '\0' ? reason.data() : curl_easy_strerror(outcome));
    }
    long status = 0;
    curl_easy_getinfo(to, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) return Fetched(failed, "the answer has status " + std::to_string(status));
    return Fetched(boost::system::in_place_value, std::move(body.text));
}

}  // namespace doorbuster
