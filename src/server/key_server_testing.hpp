// For tests: a shop's web server on a free port of this machine, one prepared answer per path.
#pragma once

#include <functional>
#include <string>

#include "outbound/web_server_testing.hpp"

namespace doorbuster::testing {

class KeyServer : public WebServer {
public:
    // The whole answer, status line and all, to a request for `path`. Empty: none, ever.
    explicit KeyServer(std::function<std::string(const std::string& path)> answer)
        : WebServer(
              [answer = std::move(answer)](const WebRequest& request) { return answer(request.path); }) {}
};

}  // namespace doorbuster::testing
