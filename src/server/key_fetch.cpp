#include "server/key_fetch.hpp"

#include "funnel/jwks.hpp"

namespace doorbuster {

Result<std::string, std::string> KeyFetch::fetch(const std::string& url) {
    using Fetched = Result<std::string, std::string>;
    constexpr auto failed = boost::system::in_place_error;
    auto answer = caller_.run({.url = url,
                               .headers = {"Accept: application/jwk-set+json, application/json"},
                               .connect_max = connect_max,
                               .total_max = total_max,
                               .answer_bytes_max = jwks_bytes_max,
                               .redirects_max = redirects_max,
                               .environment_proxy_allowed = true});
    if (!answer) return Fetched(failed, std::move(answer.error()));
    if (answer->status != 200) {
        return Fetched(failed, "the answer has status " + std::to_string(answer->status));
    }
    return Fetched(boost::system::in_place_value, std::move(answer->body));
}

}  // namespace doorbuster
