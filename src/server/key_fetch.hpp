// KeyFetch: reads the shop's published keys from their URL.
//
// Thread safety: fetch from one thread; cancel from any.
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "outbound/http_caller.hpp"

namespace doorbuster {

class KeyFetch {
public:
    static constexpr std::chrono::milliseconds connect_max{3'000}, total_max{10'000};
    static constexpr long redirects_max = 3;

    // The body of a 200. The error says why, without the URL: that may hold a password.
    [[nodiscard]] Result<std::string, std::string> fetch(const std::string& url);

    // A fetch under way ends at once, and every later one too.
    void cancel() { caller_.cancel(); }

private:
    HttpCaller caller_;
};

}  // namespace doorbuster
