// HttpCaller: one HTTP call to somebody else's server, bounded in every way.
//
// The other end may be slow, huge or taken over, and its name may lead anywhere: time and size
// are bounded, a redirect never leads from https to http nor out of HTTP, and where private
// addresses are not allowed, the address that is really dialled is judged, after the name was
// resolved and for every redirect, so that a name which changes its mind (DNS rebinding) gains
// nothing.
//
// Connections are kept for the next call. One that was dialled without judging addresses is
// never used for a call that judges them.
//
// Thread safety: run from one thread; cancel from any.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace doorbuster {

struct HttpCall {
    std::string method = "GET", url, body = {};
    std::vector<std::string> headers = {};  // "Name: value"
    std::chrono::milliseconds connect_max{3'000}, total_max{10'000};
    size_t answer_bytes_max = 1 << 20;
    long redirects_max = 0;  // 0: a redirect is an answer like any other
    bool private_addresses_allowed = true;
    // http_proxy and its like. Never heeded where private addresses are not allowed: the proxy
    // would dial whatever it is told.
    bool environment_proxy_allowed = false;
};

struct HttpAnswer {
    long status = 0;
    std::string body;
};

class HttpCaller {
public:
    HttpCaller();

    // Any status is an answer. The error says why there is none, without the URL: that may hold
    // a password. A call that failed may have had its effect all the same.
    [[nodiscard]] Result<HttpAnswer, std::string> run(const HttpCall& call);

    // A call under way ends at once, and every later one too.
    void cancel();

private:
    struct Cleanup {
        void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
    };
    const std::unique_ptr<CURLM, Cleanup> multi_;
    bool has_dialled_unjudged_ = false;
    std::atomic<bool> cancelled_{false};
};

}  // namespace doorbuster
