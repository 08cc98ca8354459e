// JudgedSocket: opens the sockets of one call, and none to a private address.
//
// It is asked after the name was resolved, with the very address that will be dialled.
//
// Thread safety: none; it belongs to one call.
#pragma once

#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

#include "base/address.hpp"

namespace doorbuster {

class JudgedSocket {
public:
    // CURLOPT_OPENSOCKETFUNCTION; `judge` is a JudgedSocket.
    static curl_socket_t open(void* judge, curlsocktype, curl_sockaddr* to) {
        const auto address = address_of(*to);
        if (!address || is_private(*address)) {
            static_cast<JudgedSocket*>(judge)->has_refused_ = true;
            return CURL_SOCKET_BAD;
        }
        return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    }

    bool has_refused() const { return has_refused_; }

private:
    static std::optional<Address> address_of(const curl_sockaddr& from) {
        if (from.family == AF_INET) {
            sockaddr_in v4;
            std::memcpy(&v4, &from.addr, sizeof v4);
            Address::V4Bytes bytes;
            std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
            return Address::v4(bytes);
        }
        if (from.family != AF_INET6 || from.addrlen < sizeof(sockaddr_in6)) return std::nullopt;
        // The library's structure goes on behind its last member for the longer families.
        sockaddr_in6 v6;
        std::memcpy(&v6, reinterpret_cast<const char*>(&from) + offsetof(curl_sockaddr, addr), sizeof v6);
        Address::V6Bytes bytes;
        std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
        return Address::v6(bytes);
    }

    bool has_refused_ = false;
};

}  // namespace doorbuster
