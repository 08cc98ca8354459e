// ProviderPool: threads that ask the payment provider for the payment desk.
//
// Bounded by its user: the desk has at most as many calls under way as there are threads, so the
// queue never holds more than that. Without a provider it has no threads and is never asked.
//
// Thread safety: ask from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/http_provider.hpp"

namespace doorbuster {

class ProviderPool {
public:
    // Called on any thread, once for each call.
    using Answered = std::function<void(const ProviderCall&, const ProviderAnswer&)>;

    ProviderPool(const HttpProvider::Options& options, size_t threads, Answered answered);
    ~ProviderPool();

    void ask(ProviderCall call);

    // Calls under way end at once: what they did is found out after the next start.
    void stop();

private:
    void work(HttpProvider& provider);

    const Answered answered_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<ProviderCall> calls_;  // guarded by mutex_
    bool stopping_ = false;           // guarded by mutex_
    std::vector<std::unique_ptr<HttpProvider>> providers_;
    std::vector<std::thread> threads_;
};

}  // namespace doorbuster
