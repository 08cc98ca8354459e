// A real redis-server for tests: a folder and a socket of its own, ended by its process id.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "sale/testing.hpp"
#include "store_cluster/redis_session.hpp"

namespace doorbuster::testing {

class RedisServer {
public:
    // `settings` are command-line words such as {"--maxmemory", "4mb"}.
    explicit RedisServer(std::vector<std::string> settings = {}) : settings_(std::move(settings)) {
        std::string folder = std::filesystem::temp_directory_path() / "doorbuster-redis-XXXXXX";
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
        std::vector<std::string> words{
            "redis-server", "--port", "0",         "--unixsocket",   address().socket, "--dir", folder_,
            "--appendonly", "no",     "--logfile", folder_ + "/log", "--save",         ""};
        words.insert(words.end(), settings_.begin(), settings_.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        if (posix_spawnp(&pid_, "redis-server", nullptr, nullptr, argv.data(), environ) != 0)
            throw std::runtime_error("redis-server cannot be started");
        // It is up when it answers; a process that ended is told at once.
        for (;;) {
            if (waitpid(pid_, nullptr, WNOHANG) != 0) throw std::runtime_error("redis-server ended at once");
            auto session = RedisSession::open(address(), 10s);
            if (session) {
                const auto said = session->run({"PING"});
                if (said && !error_in(**said)) return;
            }
            usleep(2000);
        }
    }
    void stop(int signal = SIGTERM) {
        if (pid_ == 0) return;
        kill(pid_, signal);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    void freeze() { kill(pid_, SIGSTOP); }
    void thaw() { kill(pid_, SIGCONT); }

    RedisAddress address() const { return {.socket = folder_ + "/redis"}; }
    const std::string& folder() const { return folder_; }

    RedisSession connect() const {
        auto session = RedisSession::open(address(), 30s);
        if (!session) throw std::runtime_error(session.error().detail);
        return std::move(*session);
    }

private:
    const std::vector<std::string> settings_;
    std::string folder_;
    pid_t pid_ = 0;
};

// The answer to a call that Redis carries out.
inline RedisReplyPtr ask(RedisSession& session, const RedisCall& call) {
    auto reply = session.run(call);
    if (!reply) throw std::runtime_error(reply.error().detail);
    return std::move(*reply);
}

}  // namespace doorbuster::testing
