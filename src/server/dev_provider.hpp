// DevProvider: the sandbox payment provider of `doorbuster dev`, in a process of its own.
//
// It ends with the server, also if that is killed. Its keys are made at each start and are known
// to these two processes only; its payments are kept beside the server's data.
//
// Thread safety: none. REQUIRES: no other thread runs yet when it starts, because it forks.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/result.hpp"
#include "config/config.hpp"

namespace doorbuster {

class DevProvider {
public:
    // The error says why there is none.
    [[nodiscard]] static Result<DevProvider, std::string> start(const Config& config);

    DevProvider(DevProvider&& other) noexcept
        : process_(std::exchange(other.process_, 0)),
          url_(std::move(other.url_)),
          key_(std::move(other.key_)),
          webhook_secret_(std::move(other.webhook_secret_)),
          return_url_(std::move(other.return_url_)) {}
    DevProvider& operator=(DevProvider&&) = delete;
    ~DevProvider();

    // Sets the options of payment to it, where nobody else has.
    void set(Config& config) const;
    const std::string& url() const { return url_; }

private:
    DevProvider() = default;

    pid_t process_ = 0;
    std::string url_, key_, webhook_secret_, return_url_;
};

}  // namespace doorbuster
