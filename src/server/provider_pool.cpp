#include "server/provider_pool.hpp"

#include "base/threads.hpp"

namespace doorbuster {

namespace {

const ProviderAnswer stopped{.view = {}, .error = "this server is stopping"};

}  // namespace

ProviderPool::ProviderPool(const HttpProvider::Options& options, size_t threads, Answered answered)
    : answered_(std::move(answered)) {
    for (size_t i = 0; i < threads; ++i) providers_.push_back(std::make_unique<HttpProvider>(options));
    for (const auto& provider : providers_) {
        threads_.emplace_back([this, at = provider.get()] {
            set_thread_up("provider", -1);
            work(*at);
        });
    }
}

ProviderPool::~ProviderPool() {
    stop();
}

void ProviderPool::ask(ProviderCall call) {
    {
        std::lock_guard lock(mutex_);
        if (!stopping_) {
            calls_.push_back(std::move(call));
            wake_.notify_one();
            return;
        }
    }
    answered_(call, stopped);
}

void ProviderPool::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (const auto& provider : providers_) provider->cancel();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    // Nobody adds to them any more.
    for (const ProviderCall& call : calls_) answered_(call, stopped);
    calls_.clear();
}

void ProviderPool::work(HttpProvider& provider) {
    for (;;) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || !calls_.empty(); });
        if (stopping_) return;
        const ProviderCall call = std::move(calls_.front());
        calls_.pop_front();
        lock.unlock();
        answered_(call, provider.ask(call));
    }
}

}  // namespace doorbuster
