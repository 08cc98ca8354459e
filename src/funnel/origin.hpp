// Origin: whether a page that calls with a buyer's cookie may do so.
//
// A browser sends the cookie whichever page asks, and says in Origin which one it was. A
// changing call that rests on the cookie counts only from the server's own site or from one
// that the operator named. No Origin, or `null`, is no site.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace doorbuster {

// `host` is the request's Host: the scheme is the proxy's matter and is not compared with it.
inline bool is_own_site(std::string_view origin, std::string_view host,
                        std::span<const std::string> origins) {
    for (const std::string& known : origins) {
        if (origin == known) return true;
    }
    const size_t scheme_end = origin.find("://");
    return scheme_end != std::string_view::npos && !host.empty() && origin.substr(scheme_end + 3) == host;
}

}  // namespace doorbuster
