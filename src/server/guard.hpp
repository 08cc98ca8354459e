// Guard: keeps what the funnel works with up to date, off every purchase's way.
//
// The funnel's rules are one immutable piece made from three sources: the configuration, the
// shop's keys and the lists. Whenever one of them changes, the guard makes new rules and hands
// them to every gate. Its own thread watches the lists' file, tells overload by the delays and
// carries out reloads; the keys have a watch of their own, since a fetch may take long.
//
// Thread safety: reload from any thread; what the other calls require stands at each.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/wakeup.hpp"
#include "config/config.hpp"
#include "config/reload.hpp"
#include "funnel/funnel.hpp"
#include "funnel/overload.hpp"
#include "funnel/risk_desk.hpp"
#include "http/admin_risk.hpp"
#include "metrics/page.hpp"
#include "server/file_watch.hpp"
#include "server/key_watch.hpp"
#include "store/settings.hpp"

namespace doorbuster {

class Guard {
public:
    // Hands the rules to every gate; `shown` is called when all have them.
    using Publish = std::function<void(std::shared_ptr<const FunnelRules>, std::function<void()> shown)>;
    // Runs the task on the orders thread, where the risk desk and the settings live; false if it
    // has no room now.
    using OnOrdersThread = std::function<bool(std::function<void()>)>;

    struct Hooks {
        Publish publish;
        OnOrdersThread on_orders_thread;
        // Several processes share the settings: what another one changes of the level and the lists counts
        // here within a second.
        bool settings_are_shared = false;
        // A reload changed live options, for those whom the funnel does not concern. On the guard's thread.
        std::function<void(const Config&)> reloaded{};
    };

    Guard(const Config& config, Reloader::Read read_again, Clock& clock, Settings& settings, Hooks hooks);
    ~Guard();

    // Keys, lists and the operator's level, before anybody serves. The error is a sentence.
    [[nodiscard]] Result<void, std::string> load();

    FunnelState state();
    std::shared_ptr<const FunnelRules> rules() const;
    RiskServices& risk_services() { return risk_services_; }

    // From here on the rules follow their sources. REQUIRES: the gates run.
    void start(std::vector<DelaySensor*> gates, OverloadWatch::QueueDelay queue_delay);
    void stop();

    // The configuration is read again; `done` is called when every gate has what changed, on any
    // thread.
    void reload(std::function<void(ReloadReport)> done);

    // A sale that is being warmed up may need images. From any thread.
    void prepare_for(const Catalogue& catalogue);

    // Adds the funnel's figures.
    void describe(MetricsSnapshot& snapshot) const;

private:
    void run();
    void look_at_lists();
    void show_lists();
    void look_at_settings();
    void follow_settings();
    void run_reloads();
    void apply(const Config& config);
    // REQUIRES: mutex_ is held.
    std::shared_ptr<const Identity> make_identity() const;
    void remake(std::function<void()> shown);

    Clock& clock_;
    const Hooks hooks_;

    // Shared with the gates; lock-free.
    LevelSwitch level_;
    Strikes strikes_;
    Burned burned_;
    ImagePool images_;
    Arrivals arrivals_;

    // What the rules are made of. Guarded by mutex_, under which they are also handed out, so that
    // the gates get them in the order in which they were made.
    mutable std::mutex mutex_;
    Config config_;
    std::shared_ptr<const KeyRing> keys_;
    std::shared_ptr<const Identity> identity_;
    std::shared_ptr<const RiskLists> lists_ = std::make_shared<RiskLists>();
    std::shared_ptr<const FunnelRules> rules_;
    bool is_publishing_ = false;

    // The orders thread's.
    RiskDesk desk_;
    Settings& settings_;
    RiskServices risk_services_;
    bool settings_fail_ = false;  // as the last look found them

    KeyWatch key_watch_;  // has a thread of its own

    // The guard's thread's.
    FileWatch lists_watch_;
    std::shared_ptr<std::vector<ListEntry>> lists_to_show_;  // null: none
    std::unique_ptr<OverloadWatch> overload_;
    std::atomic<bool> is_looking_{false};  // a look at the settings waits for the orders thread
    Reloader reloader_;
    bool is_changed_ = false;  // by the reload under way

    // Guarded by reloads_mutex_.
    std::mutex reloads_mutex_;
    std::vector<std::function<void(ReloadReport)>> reloads_;
    bool is_stopped_ = false;

    Wakeup wakeup_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace doorbuster
