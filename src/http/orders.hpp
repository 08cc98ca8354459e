// OrderEndpoints: a buyer's own orders. Another's does not exist for them.
//
// Thread safety: its gate's thread.
#pragma once

#include <string_view>

#include "http/door.hpp"
#include "http/replies.hpp"

namespace doorbuster {

class OrderEndpoints {
public:
    OrderEndpoints(Services& services, Replies& replies, Door& door, NegativeCache& not_found)
        : services_(services), replies_(replies), door_(door), not_found_(not_found) {}

    void list(Exchange&);
    void show(Exchange&, std::string_view order);

    // Answered when the unit is back in the book: whoever heard it may buy again. One that is being
    // paid is voided first; its state tells.
    void cancel(Exchange&, std::string_view order);

private:
    Services& services_;
    Replies& replies_;
    Door& door_;
    NegativeCache& not_found_;
};

}  // namespace doorbuster
