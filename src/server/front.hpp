// Front: the gate threads of both listeners with their handlers.
//
// Thread safety: publish and purchases_changed from any thread; the rest from the main thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/api_admin.hpp"
#include "http/api_public.hpp"
#include "http/gate.hpp"
#include "http/page_thread.hpp"
#include "http/stream_room.hpp"
#include "metrics/page.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

class Front {
public:
    // Binds the listeners, the public one where buyers are answered here. Throws std::runtime_error with a
    // sentence that says what to do.
    Front(const Config& config, const PageTerms& page_terms, bool answers_buyers);

    std::vector<ReplySink*> sinks();
    std::vector<DelaySensor*> delay_sensors();
    void start(Services& services, RiskServices& risk);
    // `shown` is called when every gate has it, and the pages that go with it.
    void publish(std::shared_ptr<const Catalogue> catalogue, std::function<void()> shown);
    void publish(std::shared_ptr<const FunnelRules> rules, std::function<void()> shown);

    // What a reload may change of how connections are held. From any thread.
    void set_limits(const Config& config);

    // Those who follow these purchases will look at them again. For a thread that has just
    // committed a change; cheap, and no more than a load per gate while nobody follows any.
    void purchases_changed(std::span<const PurchaseId> purchases);

    // Stops accepting, closes event streams and waits until every request in hand is answered, for as long as
    // `at_most`. False if some were not.
    bool drain(milliseconds at_most);
    void stop();

    // As bound: with the port that the system chose, where it was left to it; "none" where there is none.
    const std::string& public_address() const { return public_address_; }
    const std::string& admin_address() const { return admin_address_; }

    // Adds the listeners' figures, the units on the boards, and sales that should have opened.
    void describe(MetricsSnapshot& snapshot, Instant now) const;

private:
    void show_page(const std::string& path, const std::shared_ptr<const Page>& page);

    StreamRoom stream_room_;
    const EventTerms event_terms_;
    std::vector<std::unique_ptr<Gate>> gates_;  // public; by index
    std::unique_ptr<Gate> admin_gate_;
    std::string public_address_, admin_address_;
    std::vector<std::unique_ptr<PublicApi>> apis_;
    std::unique_ptr<AdminApi> admin_api_;

    PageThread pages_;

    mutable std::mutex mutex_;
    std::shared_ptr<const Catalogue> catalogue_;  // guarded by mutex_; the newest
};

}  // namespace doorbuster
