// `sale rebuild`: asks that the books of a sale be loaded anew, and waits for it if wished.
#pragma once

#include <string>

#include "cli/admin_desk.hpp"

namespace doorbuster {

struct RebuildWish {
    std::string item;    // empty: all of the sale's
    std::string reason;  // empty: none is given
    bool wait = false;   // until every book that was asked for is open again
};

// `path` is the sale's, "/v1/sales/ID/rebuild". The exit code.
int rebuild_books(CliRun&, AdminDesk&, const std::string& path, const RebuildWish&);

}  // namespace doorbuster
