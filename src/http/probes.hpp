// ProbeEndpoints: is it alive, is it ready, what has it counted.
//
// Thread safety: its gate's thread.
#pragma once

#include "http/replies.hpp"

namespace doorbuster {

class ProbeEndpoints {
public:
    ProbeEndpoints(Services& services, Replies& replies) : services_(services), replies_(replies) {}

    void livez(Exchange&);
    void readyz(Exchange&);
    void metrics(Exchange&);

private:
    Services& services_;
    Replies& replies_;
};

}  // namespace doorbuster
