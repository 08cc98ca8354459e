// KeyFetch: reads the shop's published keys from their URL.
//
// The other end may be slow, huge or taken over: time and size are bounded, and a redirect
// never leads from https to http, nor to anything that is not HTTP.
//
// Thread safety: fetch from one thread; cancel from any.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace doorbuster {

class KeyFetch {
public:
    static constexpr std::chrono::milliseconds connect_max{3'000}, total_max{10'000};
    static constexpr long redirects_max = 3;

    KeyFetch();

    // The body of a 200. The error says why, without the URL: that may hold a password.
    [[nodiscard]] Result<std::string, std::string> fetch(const std::string& url);

    // A fetch under way ends at once, and every later one too.
    void cancel();

private:
    struct Cleanup {
        void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
    };
    const std::unique_ptr<CURLM, Cleanup> multi_;
    std::atomic<bool> cancelled_{false};
};

}  // namespace doorbuster
