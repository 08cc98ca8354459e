#include "config/secrets.hpp"

#include "base/crypto.hpp"

namespace doorbuster {

std::string secret_fault(const Option<std::string>& secret) {
    const size_t bytes = secret.value().size();
    if (bytes >= secret_bytes_min) return "";
    std::string text = secret.name();
    if (bytes == 0) {
        text += " is missing";
    } else {
        text += " (from " + secret.origin().where + ") is too short: " + std::to_string(bytes) +
                " bytes, at least " + std::to_string(secret_bytes_min) + " are needed";
    }
    const std::string good = random_secret(secret_bytes_min);
    const std::string group = secret.name().substr(0, secret.name().find('.'));
    text += "\n  a good one, for the environment:  export " + secret.environment_name() + "='" + good + "'";
    text += "\n  or for doorbuster.toml, in [" + group + "]:  " + std::string(secret.key()) + " = \"" + good +
            '"';
    return text;
}

std::vector<std::string> secrets_check(const Config& config) {
    std::vector<std::string> faults;
    // Where the shop's keys come from elsewhere, a secret is one more key, and may be left out.
    const bool needs_secret =
        config.identity.keys_file.value().empty() && config.identity.jwks_url.value().empty();
    for (const auto* secret : {&config.admin.key, &config.identity.hmac_secret}) {
        const bool may_be_left_out = secret == &config.identity.hmac_secret && !needs_secret;
        if (may_be_left_out && secret->value().empty()) continue;
        std::string fault = secret_fault(*secret);
        if (!fault.empty()) faults.push_back(std::move(fault));
    }
    return faults;
}

}  // namespace doorbuster
