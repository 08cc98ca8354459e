// Front: the gate threads of both listeners with their handlers.
//
// Thread safety: publish from any thread; the rest from the main thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "config/config.hpp"
#include "http/api_admin.hpp"
#include "http/api_public.hpp"
#include "http/gate.hpp"
#include "metrics/page.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

class Front {
public:
    // Binds both listeners. Throws std::runtime_error with a sentence that says what to do.
    explicit Front(const Config& config);

    std::vector<ReplySink*> sinks();
    void start(Services& services, const OrderWorker& worker);
    void publish(std::shared_ptr<const Catalogue> catalogue, std::function<void()> shown);

    // Stops accepting and waits until every request in hand is answered, for as long as
    // `at_most`. False if some were not.
    bool drain(milliseconds at_most);
    void stop();

    uint16_t public_port() const { return gates_.front()->port(); }
    uint16_t admin_port() const { return admin_gate_->port(); }

    // Adds the listeners' figures and the units on the boards.
    void describe(MetricsSnapshot& snapshot) const;

private:
    std::vector<std::unique_ptr<Gate>> gates_;  // public; by index
    std::unique_ptr<Gate> admin_gate_;
    std::vector<std::unique_ptr<PublicApi>> apis_;
    std::unique_ptr<AdminApi> admin_api_;

    mutable std::mutex mutex_;
    std::shared_ptr<const Catalogue> catalogue_;  // guarded by mutex_; the newest
};

}  // namespace doorbuster
