// A real redis-server for tests: a folder and a socket of its own, ended by its process id.
#pragma once

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "sale/testing.hpp"
#include "store_cluster/redis_session.hpp"

namespace doorbuster::testing {

// For everything that a test waits for: far beyond what a busy machine takes.
constexpr auto redis_wait_max = 60s;

class Patience {
public:
    std::chrono::steady_clock::time_point until() const { return until_; }
    void check(const char* what) const {
        if (std::chrono::steady_clock::now() > until_) throw std::runtime_error(what);
    }

private:
    const std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + redis_wait_max;
};

// A loopback port that nobody has at this moment.
inline std::string free_port() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    const bool is_bound = bind(listener, reinterpret_cast<sockaddr*>(&name), size) == 0 &&
                          getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size) == 0;
    close(listener);
    if (!is_bound) throw std::runtime_error("no free port");
    return std::to_string(ntohs(name.sin_port));
}

class RedisServer {
public:
    enum class Listens : uint8_t { on_its_socket, on_a_port_too };

    // `settings` are command-line words such as {"--maxmemory", "4mb"}.
    explicit RedisServer(std::vector<std::string> settings = {}, Listens listens = Listens::on_its_socket)
        : settings_(std::move(settings)), listens_(listens) {
        std::string folder = std::filesystem::temp_directory_path() / "doorbuster-redis-XXXXXX";
        ::signal(SIGPIPE, SIG_IGN);  // as the server does
        if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for Redis");
        folder_ = folder;
        start();
    }
    ~RedisServer() {
        stop(SIGKILL);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    void start() {
        // A port that is free now may be somebody else's a moment later.
        for (int tries_left = 10; !started(); --tries_left) {
            if (tries_left == 0 || port_ == "0") throw std::runtime_error("redis-server ended at once");
        }
    }
    void stop(int signal = SIGTERM) {
        if (pid_ == 0) return;
        kill(pid_, signal);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    // It stands still when the kernel says so.
    void freeze() {
        kill(pid_, SIGSTOP);
        if (waitpid(pid_, nullptr, WUNTRACED) != pid_) throw std::runtime_error("redis-server does not stop");
    }
    void thaw() { kill(pid_, SIGCONT); }

    RedisAddress address() const { return {.socket = folder_ + "/redis"}; }
    const std::string& port() const { return port_; }

    RedisSession connect() const {
        auto session = RedisSession::open(address(), redis_wait_max);
        if (!session) throw std::runtime_error(session.error().detail);
        return std::move(*session);
    }

private:
    // It is up when it answers; false: it ended.
    bool started() {
        if (listens_ == Listens::on_a_port_too) port_ = free_port();
        std::vector<std::string> words{
            "redis-server", "--port", port_,       "--unixsocket",   address().socket, "--dir", folder_,
            "--appendonly", "no",     "--logfile", folder_ + "/log", "--save",         ""};
        words.insert(words.end(), settings_.begin(), settings_.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that aborts leaves no server behind
            execvp("redis-server", argv.data());
            _exit(127);
        }
        if (pid_ < 0) throw std::runtime_error("redis-server cannot be started");
        for (const Patience patience;; patience.check("redis-server does not answer")) {
            if (waitpid(pid_, nullptr, WNOHANG) != 0) return false;
            auto session = RedisSession::open(address(), redis_wait_max);
            if (session) {
                const auto said = session->run({"PING"});
                if (said && !error_in(**said)) return true;
            }
            usleep(2000);
        }
    }

    const std::vector<std::string> settings_;
    const Listens listens_;
    std::string folder_, port_ = "0";
    pid_t pid_ = 0;
};

// The answer to a call that Redis carries out.
inline RedisReplyPtr ask(RedisSession& session, const RedisCall& call) {
    auto reply = session.run(call);
    if (!reply) throw std::runtime_error(reply.error().detail);
    return std::move(*reply);
}

// A book on a server of its own, with the library loaded.
class LoadedBook {
public:
    explicit LoadedBook(uint32_t units, std::vector<std::string> settings = {},
                        RedisServer::Listens listens = RedisServer::Listens::on_its_socket)
        : server(std::move(settings), listens), redis(server.connect()) {
        (void)ask(redis, load_library_call());
        load(2, units);
    }

    void load(uint64_t epoch, uint32_t units) {
        const auto pin =
            read_pin(*ask(redis, load_call(bucket, {.epoch = epoch,
                                                    .word = word,
                                                    .stock = {.units_total = units, .units_available = units},
                                                    .takes = {}})));
        if (!pin) throw std::runtime_error(pin.error().detail);
        fence = {*pin, epoch};
    }
    RedisResult<std::vector<std::optional<ReserveVerdict>>> reserve(
        const std::vector<ReserveEntry>& entries) {
        return read_reserve(*ask(redis, reserve_call(bucket, fence, entries, t0)), entries.size());
    }
    BookPeek peek() {
        auto peek = read_peek(*ask(redis, peek_call(bucket)));
        if (!peek) throw std::runtime_error(peek.error().detail);
        return *peek;
    }
    Stock stock() { return peek().book.value().figures.stock; }

    RedisServer server;
    RedisSession redis;
    const BookBucket bucket{SaleId("phone-drop"), ItemId("phone")};
    BookWord word{.version = 1,
                  .phase = Phase::selling,
                  .terms = {.units_per_buyer_max = 2, .opens_at = t0, .closes_at = t0 + 1h}};
    Fence fence;
};

}  // namespace doorbuster::testing
