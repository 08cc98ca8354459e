#include "funnel/client_address.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace doorbuster {
namespace {

std::string_view without_blanks(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_port(std::string_view text) {
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size();
}

// "1.2.3.4", "1.2.3.4:567", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:567"
std::optional<Address> address_of_hop(std::string_view hop) {
    if (hop.starts_with('[')) {
        const size_t close = hop.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        const std::string_view host = hop.substr(1, close - 1), rest = hop.substr(close + 1);
        if (host.find(':') == std::string_view::npos) return std::nullopt;
        if (!rest.empty() && (rest[0] != ':' || !is_port(rest.substr(1)))) return std::nullopt;
        return Address::parse(host);
    }
    const size_t colon = hop.find(':');
    const bool has_one_colon = colon != std::string_view::npos && hop.rfind(':') == colon;
    if (!has_one_colon) return Address::parse(hop);
    if (!is_port(hop.substr(colon + 1))) return std::nullopt;
    return Address::parse(hop.substr(0, colon));
}

}  // namespace

Address client_address(const Address& peer, std::span<const std::string_view> x_forwarded_for,
                       const AddressSet& trusted_proxies) {
    Address client = peer;
    std::string_view line;
    bool is_line_done = true;
    for (size_t hops = 0; hops < forwarded_hops_max && trusted_proxies.contains(client); ++hops) {
        if (is_line_done) {
            if (x_forwarded_for.empty()) break;
            line = x_forwarded_for.back();
            x_forwarded_for = x_forwarded_for.first(x_forwarded_for.size() - 1);
        }
        const size_t comma = line.rfind(',');
        is_line_done = comma == std::string_view::npos;
        const auto hop = address_of_hop(without_blanks(is_line_done ? line : line.substr(comma + 1)));
        if (!hop) break;
        client = *hop;
        if (!is_line_done) line = line.substr(0, comma);
    }
    return client;
}

}  // namespace doorbuster
