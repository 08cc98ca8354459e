#include "config/listeners.hpp"

#include <boost/asio/ip/address.hpp>

#include "base/check.hpp"

namespace doorbuster {

namespace {

using boost::asio::ip::address;

struct Endpoint {
    address host;
    uint16_t port;
};

Endpoint endpoint_of(const Option<std::string>& listen) {
    const auto parsed = parse_host_port(listen.value());
    CHECK(parsed);  // the option's own rule wants a literal address
    address host = boost::asio::ip::make_address(parsed->host);
    if (host.is_v6() && host.to_v6().is_v4_mapped()) {
        host = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, host.to_v6());
    }
    return {host, parsed->port};
}

// Every address of IPv4; written for IPv6, of both.
bool includes(const address& all, const address& one) {
    return all.is_unspecified() && (all.is_v6() || one.is_v4());
}

}  // namespace

std::string listeners_fault(const Config& config) {
    const Endpoint server = endpoint_of(config.server.listen), admin = endpoint_of(config.admin.listen);
    if (server.port == 0 || server.port != admin.port) return "";
    const bool meet =
        server.host == admin.host || includes(server.host, admin.host) || includes(admin.host, server.host);
    if (!meet) return "";
    return "server.listen (" + config.server.listen.value() + ") and admin.listen (" +
           config.admin.listen.value() + ") are the same place: give one of them another port";
}

}  // namespace doorbuster
