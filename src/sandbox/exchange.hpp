// What a client of the sandbox provider asks, and what it hears: the interface without a wire.
#pragma once

#include <string>
#include <string_view>

namespace doorbuster::sandbox {

struct Ask {
    std::string_view method;
    std::string_view target;  // path and query, as sent
    std::string_view authorization = {}, accept_language = {};
    std::string_view body = {};
};

struct Reply {
    unsigned status = 200;
    std::string_view content_type = "application/json";
    std::string body = {};
    std::string location = {};  // empty: none
};

}  // namespace doorbuster::sandbox
