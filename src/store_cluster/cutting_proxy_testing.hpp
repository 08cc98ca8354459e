// CuttingProxy: stands between a connection and PostgreSQL, and cuts the first COMMIT that comes: before it
// reaches the server, or behind the server's answer, which nobody hears.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "store_cluster/postgres_testing.hpp"

namespace doorbuster::testing {

inline sockaddr_un socket_in(const std::string& folder) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, (folder + "/.s.PGSQL.5432").c_str(), sizeof address.sun_path - 1);
    return address;
}

class CuttingProxy {
public:
    enum class Cut : uint8_t { before_it_lands, after_it_landed };

    explicit CuttingProxy(Cut cut) : cut_(cut), folder_(postgres().folder() + "/proxy") {
        std::filesystem::create_directory(folder_);
        listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
        const sockaddr_un address = socket_in(folder_);
        CHECK(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        CHECK(listen(listener_, 8) == 0);
        thread_ = std::thread([this] { serve(); });
    }
    ~CuttingProxy() {
        shutdown(listener_, SHUT_RDWR);
        thread_.join();
        close(listener_);
        std::filesystem::remove_all(folder_);
    }
    CuttingProxy(const CuttingProxy&) = delete;
    CuttingProxy& operator=(const CuttingProxy&) = delete;

    pg::ConnectionOptions options(const TestDatabase& database) const {
        auto options = database.options();
        options.url += " host=" + folder_;
        return options;
    }
    bool has_cut() const { return has_cut_; }

private:
    void serve() {
        for (;;) {
            const int client = accept(listener_, nullptr, nullptr);
            if (client < 0) return;
            const int server = socket(AF_UNIX, SOCK_STREAM, 0);
            const sockaddr_un address = socket_in(postgres().folder());
            CHECK(connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
            carry(client, server);
            close(server);
            close(client);
        }
    }

    // One connection at a time: the tests need no more.
    void carry(int client, int server) {
        std::array<char, 65536> bytes;
        for (;;) {
            std::array<pollfd, 3> sockets{{{client, POLLIN, 0}, {server, POLLIN, 0}, {listener_, 0, 0}}};
            if (poll(sockets.data(), sockets.size(), -1) < 0) return;
            if ((sockets[2].revents & POLLHUP) != 0) return;
            const bool is_from_client = sockets[0].revents != 0;
            const ssize_t count = read(is_from_client ? client : server, bytes.data(), bytes.size());
            if (count <= 0) return;
            const std::string_view said(bytes.data(), static_cast<size_t>(count));
            const bool is_commit = is_from_client && said.find("COMMIT") != std::string_view::npos;
            if (is_commit && !has_cut_) {
                has_cut_ = true;
                if (cut_ == Cut::before_it_lands) return;
                CHECK(write(server, said.data(), said.size()) == count);
                CHECK(read(server, bytes.data(), bytes.size()) > 0);  // its answer: it has landed
                return;
            }
            if (write(is_from_client ? server : client, said.data(), said.size()) != count) return;
        }
    }

    const Cut cut_;
    const std::string folder_;
    int listener_ = -1;
    std::atomic<bool> has_cut_ = false;
    std::thread thread_;
};

}  // namespace doorbuster::testing
