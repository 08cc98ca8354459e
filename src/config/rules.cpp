#include "config/rules.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>

#include "base/address.hpp"
#include "base/standard_webhooks.hpp"

namespace doorbuster {

namespace {

using Reason = std::optional<std::string>;

Reason must_be(std::string_view what) {
    return "must be " + std::string(what);
}

constexpr std::string_view address_what = "an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080";

Reason check_address(std::string_view text) {
    const auto parsed = parse_host_port(text);
    if (!parsed) return must_be(address_what);
    std::array<unsigned char, sizeof(in6_addr)> ignored;
    const int family = text.front() == '[' ? AF_INET6 : AF_INET;
    if (inet_pton(family, parsed->host.c_str(), ignored.data()) == 1) return std::nullopt;
    if (parsed->host == "localhost") return "must be an IP address and a port: write 127.0.0.1 for localhost";
    return must_be(address_what);
}

Reason check_backend(std::string_view text) {
    if (text == "embedded" || text == "cluster") return std::nullopt;
    return must_be("embedded or cluster");
}

constexpr std::string_view roles_what = "one or more of gate, worker and sweeper, separated by commas";

Reason check_roles(std::string_view text) {
    constexpr std::array<std::string_view, 3> roles{"gate", "worker", "sweeper"};
    const std::vector<std::string> parts = parts_of(text);
    for (const std::string& part : parts) {
        if (std::ranges::find(roles, part) == roles.end()) return must_be(roles_what);
    }
    return parts.empty() ? must_be(roles_what) : std::nullopt;
}

constexpr std::string_view redis_url_what = "redis://USER:PASSWORD@HOST:PORT or unix:PATH";

Reason check_redis_url(std::string_view text) {
    return parse_redis_url(text) ? std::nullopt : must_be(redis_url_what);
}

Reason check_optional_redis_url(std::string_view text) {
    return text.empty() ? std::nullopt : check_redis_url(text);
}

constexpr std::string_view postgres_url_what = "postgresql://USER:PASSWORD@HOST/DATABASE";

// libpq reads the rest, and says what is wrong with it.
Reason check_postgres_url(std::string_view text) {
    const bool is_url = text.starts_with("postgresql://") || text.starts_with("postgres://");
    const bool is_words = text.find('=') != text.npos && text.find("://") == text.npos;
    if ((is_url || is_words) && text.find('\0') == text.npos) return std::nullopt;
    return must_be(postgres_url_what);
}

Reason check_optional_postgres_url(std::string_view text) {
    return text.empty() ? std::nullopt : check_postgres_url(text);
}

constexpr std::string_view brokers_what = "HOST:PORT, and more of them behind commas";

Reason check_brokers(std::string_view text) {
    const std::vector<std::string> brokers = parts_of(text);
    const bool good =
        std::ranges::all_of(brokers, [](const std::string& one) { return parse_host_port(one).has_value(); });
    return good && !brokers.empty() ? std::nullopt : must_be(brokers_what);
}

constexpr std::string_view topic_what = "at most 200 letters, digits, dots, hyphens and underscores";

Reason check_topic(std::string_view text) {
    const bool good = std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '-' || c == '_';
    });
    return good && !text.empty() && text.size() <= 200 ? std::nullopt : must_be(topic_what);
}

Reason check_optional_topic(std::string_view text) {
    return text.empty() ? std::nullopt : check_topic(text);
}

Reason check_folder(std::string_view text) {
    if (!text.empty() && text.find('\0') == text.npos) return std::nullopt;
    return must_be("the path of a folder");
}

constexpr std::string_view log_level_what = "debug, info, warn, error or off";

Reason check_log_level(std::string_view text) {
    constexpr std::array<std::string_view, 5> levels{"debug", "info", "warn", "error", "off"};
    if (std::ranges::find(levels, text) != levels.end()) return std::nullopt;
    return must_be(log_level_what);
}

// It travels in an Authorization header, where a space or a control character ends it.
Reason check_header_secret(std::string_view text) {
    const bool visible = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
    if (visible) return std::nullopt;
    return "must be visible ASCII characters without spaces";
}

Reason check_nothing(std::string_view) {
    return std::nullopt;
}

Reason check_no_control(std::string_view text) {
    const bool plain = std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    if (plain) return std::nullopt;
    return "must not contain control characters";
}

Reason check_issuer(std::string_view text) {
    if (text.size() > 256) return must_be("at most 256 bytes long");
    return check_no_control(text);
}

Reason check_claim_name(std::string_view text) {
    constexpr std::array<std::string_view, 7> taken{"iss", "sub", "aud", "exp", "nbf", "iat", "jti"};
    if (std::ranges::find(taken, text) != taken.end())
        return "must not be a claim that has a meaning already";
    if (text.size() > 64) return must_be("at most 64 bytes long");
    return check_no_control(text);
}

Reason check_optional_secret(std::string_view text) {
    if (text.empty() || text.size() >= 32) return std::nullopt;
    return must_be("empty, or a text of at least 32 bytes");
}

constexpr std::string_view url_what = "empty, or a URL that begins with https:// or http://";

Reason check_url(std::string_view text) {
    const bool visible = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
    if (text.empty()) return std::nullopt;
    if (visible && (text.starts_with("https://") || text.starts_with("http://"))) return std::nullopt;
    return must_be(url_what);
}

constexpr std::string_view origins_what = "origins such as https://shop.example, separated by commas";

// An origin has no path: the browser sends scheme, host and port.
Reason check_origins(std::string_view text) {
    for (const std::string& origin : parts_of(text)) {
        const size_t host = origin.find("://");
        const bool good = (origin.starts_with("https://") || origin.starts_with("http://")) &&
                          host + 3 < origin.size() && origin.find('/', host + 3) == origin.npos;
        if (!good || check_url(origin)) return must_be(origins_what);
    }
    return std::nullopt;
}

constexpr std::string_view ranges_what =
    "addresses or ranges such as 10.0.0.0/8 or 2001:db8::/32, separated by commas";

Reason check_address_ranges(std::string_view text) {
    for (const std::string& range : parts_of(text)) {
        if (!AddressRange::parse(range)) return fmt::format("must be {}: '{}' is none", ranges_what, range);
    }
    return std::nullopt;
}

Reason check_cookie_name(std::string_view text) {
    const bool good = std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (good) return std::nullopt;
    return must_be("empty, or letters, digits, '_', '-' and '.'");
}

constexpr std::string_view limit_policy_what = "token_bucket, sliding_window or leaky_bucket";

Reason check_limit_policy(std::string_view text) {
    if (text == "token_bucket" || text == "sliding_window" || text == "leaky_bucket") return std::nullopt;
    return must_be(limit_policy_what);
}

Reason check_webhook_secrets(std::string_view text) {
    const std::vector<std::string> secrets = parts_of(text);
    if (secrets.size() > webhook_secrets_max) return fmt::format("must be at most {}", webhook_secrets_max);
    for (const std::string& secret : secrets) {
        if (const auto parsed = WebhookSecret::parse(secret); !parsed)
            return parsed.error() + "; `doorbuster webhooks secret` makes one";
    }
    return std::nullopt;
}

}  // namespace

const Rule<std::string> address_rule{address_what, check_address};
const Rule<std::string> backend_rule{"embedded or cluster", check_backend};
const Rule<std::string> folder_rule{"the path of a folder", check_folder};
const Rule<std::string> log_level_rule{log_level_what, check_log_level};
const Rule<std::string> header_secret_rule{"a text of at least 32 visible ASCII characters",
                                           check_header_secret, true};
const Rule<std::string> secret_rule{"a text of at least 32 bytes", check_nothing, true};
const Rule<std::string> optional_secret_rule{"empty, or a text of at least 32 bytes", check_optional_secret,
                                             true};
const Rule<std::string> any_text_rule{"a text", check_no_control};
const Rule<std::string> issuer_rule{"a text of at most 256 bytes", check_issuer};
const Rule<std::string> claim_rule{"empty, or the name of a claim of the shop's own", check_claim_name};
const Rule<std::string> optional_path_rule{"empty, or the path of a file", check_no_control};
const Rule<std::string> url_rule{url_what, check_url};
const Rule<std::string> origins_rule{origins_what, check_origins};
const Rule<std::string> address_ranges_rule{ranges_what, check_address_ranges};
const Rule<std::string> cookie_name_rule{"empty, or the name of a cookie", check_cookie_name};
const Rule<std::string> limit_policy_rule{limit_policy_what, check_limit_policy};
const Rule<std::string> webhook_secrets_rule{"secrets of the form whsec_…, separated by commas",
                                             check_webhook_secrets, true};
const Rule<std::string> roles_rule{roles_what, check_roles};
const Rule<std::string> redis_url_rule{redis_url_what, check_redis_url, true};
const Rule<std::string> optional_redis_url_rule{redis_url_what, check_optional_redis_url, true};
const Rule<std::string> postgres_url_rule{postgres_url_what, check_postgres_url, true};
const Rule<std::string> optional_postgres_url_rule{postgres_url_what, check_optional_postgres_url, true};
const Rule<std::string> brokers_rule{brokers_what, check_brokers};
const Rule<std::string> topic_rule{topic_what, check_topic};
const Rule<std::string> optional_topic_rule{topic_what, check_optional_topic};

std::vector<std::string> parts_of(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const size_t comma = std::min(list.find(','), list.size());
        std::string_view part = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        if (!part.empty()) parts.emplace_back(part);
    }
    return parts;
}

std::string Rule<uint32_t>::allowed() const {
    std::string text = power_of_two ? "a power of two" : "a whole number";
    return text + " from " + std::to_string(min) + " to " + std::to_string(max);
}

std::optional<std::string> Rule<uint32_t>::fault(uint32_t number) const {
    if (number < min || number > max || (power_of_two && !std::has_single_bit(number)))
        return must_be(allowed());
    return std::nullopt;
}

std::optional<HostPort> parse_host_port(std::string_view text) {
    const size_t colon = text.rfind(':');
    if (colon == text.npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view port_text = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find_first_of(":[]") != host.npos) {
        return std::nullopt;  // an IPv6 address without brackets: which colon is the port's?
    }
    const bool visible = std::ranges::all_of(host, [](char c) { return c > ' ' && c < '\x7f'; });
    if (host.empty() || !visible) return std::nullopt;
    const auto port = from_text<uint32_t>(port_text);
    if (!port || *port > UINT16_MAX) return std::nullopt;
    return HostPort{std::string(host), static_cast<uint16_t>(*port)};
}

std::optional<RedisUrl> parse_redis_url(std::string_view text) {
    constexpr std::string_view network = "redis://", local = "unix:";
    const bool is_local = text.starts_with(local);
    if (!is_local && !text.starts_with(network)) return std::nullopt;
    text.remove_prefix(is_local ? local.size() : network.size());
    RedisUrl url;
    // A password may have an @ in it, a host has none.
    if (const size_t at = text.rfind('@'); at != text.npos) {
        const std::string_view who = text.substr(0, at);
        const size_t colon = who.find(':');
        if (colon == who.npos) return std::nullopt;
        url.user = who.substr(0, colon);
        url.password = who.substr(colon + 1);
        text.remove_prefix(at + 1);
    }
    if (is_local) {
        url.socket = text;
        return text.starts_with('/') ? std::optional(url) : std::nullopt;
    }
    if (text.ends_with('/')) text.remove_suffix(1);
    const auto place = parse_host_port(
        text.ends_with(']') || text.find(':') == text.npos ? std::string(text) + ":6379" : std::string(text));
    if (!place || place->port == 0) return std::nullopt;
    url.host = place->host;
    url.port = place->port;
    return url;
}

template <>
std::optional<bool> from_text<bool>(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
}

template <>
std::optional<uint32_t> from_text<uint32_t>(std::string_view text) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

template <>
std::optional<std::string> from_text<std::string>(std::string_view text) {
    return std::string(text);
}

std::string to_text(bool yes) {
    return yes ? "true" : "false";
}
std::string to_text(uint32_t number) {
    return std::to_string(number);
}

}  // namespace doorbuster
