// Rules: which values an option of each type allows, and how they are read and written as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doorbuster {

template <class T>
struct Rule;

template <>
struct Rule<bool> {
    bool is_secret() const { return false; }
    std::string allowed() const { return "true or false"; }
    std::optional<std::string> fault(bool) const { return std::nullopt; }
};

template <>
struct Rule<uint32_t> {
    uint32_t min = 0;
    uint32_t max = UINT32_MAX;
    bool power_of_two = false;

    bool is_secret() const { return false; }
    std::string allowed() const;
    std::optional<std::string> fault(uint32_t) const;
};

template <>
struct Rule<std::string> {
    std::string_view what;                                  // "an address and a port, …"
    std::optional<std::string> (*check)(std::string_view);  // why not, or nothing
    bool secret = false;

    bool is_secret() const { return secret; }
    std::string allowed() const { return std::string(what); }
    std::optional<std::string> fault(const std::string& text) const { return check(text); }
};

// ADDRESS:PORT with a literal address, so that what is bound does not depend on a resolver.
extern const Rule<std::string> address_rule;
extern const Rule<std::string> backend_rule;
extern const Rule<std::string> folder_rule;
extern const Rule<std::string> log_level_rule;
// Length is judged by secrets_fault, where a better one can be proposed.
extern const Rule<std::string> header_secret_rule;
extern const Rule<std::string> secret_rule;
extern const Rule<std::string> optional_secret_rule;
extern const Rule<std::string> any_text_rule;
extern const Rule<std::string> issuer_rule;
extern const Rule<std::string> claim_rule;
extern const Rule<std::string> optional_path_rule;
extern const Rule<std::string> url_rule;
extern const Rule<std::string> origins_rule;         // https://shop.example, …
extern const Rule<std::string> address_ranges_rule;  // 10.0.0.0/8, 2001:db8::/32, …
extern const Rule<std::string> cookie_name_rule;
extern const Rule<std::string> limit_policy_rule;
extern const Rule<std::string> webhook_secrets_rule;  // whsec_…, whsec_…
extern const Rule<std::string> roles_rule;            // gate, worker, sweeper
// They may carry passwords, and are kept like secrets.
extern const Rule<std::string> redis_url_rule;
extern const Rule<std::string> optional_redis_url_rule;
extern const Rule<std::string> postgres_url_rule;
extern const Rule<std::string> optional_postgres_url_rule;
extern const Rule<std::string> brokers_rule;  // 10.0.0.1:9092, …
extern const Rule<std::string> topic_rule;
extern const Rule<std::string> optional_topic_rule;

struct HostPort {
    std::string host;  // without brackets
    uint16_t port = 0;
};
// "127.0.0.1:80", "[::1]:80", "name:80". The host may be any name without spaces.
std::optional<HostPort> parse_host_port(std::string_view text);

// "redis://user:password@host:port" or "unix:path", where a user and a password may stand before the path.
struct RedisUrl {
    std::string host;  // without brackets
    uint16_t port = 6379;
    std::string socket;  // a path: instead of host and port
    std::string user, password;
};
std::optional<RedisUrl> parse_redis_url(std::string_view text);

// "a, b": the parts without the spaces around them; empty ones are left out.
std::vector<std::string> parts_of(std::string_view list);

template <class T>
std::optional<T> from_text(std::string_view text);
template <>
std::optional<bool> from_text<bool>(std::string_view text);
template <>
std::optional<uint32_t> from_text<uint32_t>(std::string_view text);
template <>
std::optional<std::string> from_text<std::string>(std::string_view text);

std::string to_text(bool);
std::string to_text(uint32_t);
inline const std::string& to_text(const std::string& text) {
    return text;
}

}  // namespace doorbuster
