// AdminRisk: the operator's calls that keep trouble out: the level, the lists, the reload.
//
//   GET, PUT /v1/level                            how much is left out
//   GET /v1/lists                                 who is blocked or allowed
//   PUT, DELETE /v1/lists/{list}/{kind}/{value}
//   POST /v1/reload                               the configuration, read again
//
// Thread safety: its gate's thread.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "funnel/level.hpp"
#include "funnel/risk_desk.hpp"
#include "http/replies.hpp"
#include "store/settings.hpp"

namespace doorbuster {

struct ReloadReport {
    std::vector<std::string> faults;  // if there are any, nothing was changed
    std::vector<std::string> changed, needs_restart;
};

// Borrowed; main owns them.
struct RiskServices {
    LevelSwitch& level;
    Settings& settings;  // only on the orders thread
    RiskDesk& lists;     // only on the orders thread
    // From any thread; `done` is called on any.
    std::function<void(std::function<void(ReloadReport)> done)> reload;
};

class AdminRisk {
public:
    AdminRisk(Services& services, RiskServices& risk, Replies& replies)
        : services_(services), risk_(risk), replies_(replies) {}

    // False if the path is none of these calls.
    bool handle(Exchange&);

private:
    void handle_level(Exchange&);
    void set_level(Exchange&);
    void show_lists(Exchange&);
    void change_list(Exchange&);
    void reload(Exchange&);

    Services& services_;
    RiskServices& risk_;
    Replies& replies_;
};

// {"level":"no_browse"}
Result<OperatorLevel, std::vector<Fault>> read_level(const boost::json::value& body);

}  // namespace doorbuster
