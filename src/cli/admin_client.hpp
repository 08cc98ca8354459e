// AdminClient: one call to the admin listener, and its answer.
//
// Blocking, with one deadline over the whole call. What cannot be known is said so: a
// change whose answer did not come may have happened.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/rules.hpp"

namespace doorbuster {

struct AdminCall {
    std::string method = "GET";
    std::string path;
    std::string body{};      // JSON
    std::string if_match{};  // an ETag, with its quotes
    std::chrono::seconds deadline{10};
};

struct AdminAnswer {
    unsigned status = 0;
    std::string etag;
    std::string body;

    bool is_ok() const { return status >= 200 && status < 300; }
};

// "http://host:9180", "host:9180", "0.0.0.0:9180" (connects to this machine); else a sentence.
Result<HostPort, std::string> parse_admin_address(std::string_view text);

class AdminClient {
public:
    AdminClient(HostPort server, std::string key);

    // The error is a sentence.
    [[nodiscard]] Result<AdminAnswer, std::string> call(const AdminCall&) const;

private:
    const HostPort server_;
    const std::string key_;
};

}  // namespace doorbuster
