// AdminEvents: what happened, and whether the shop has been told.
//
//   GET  /v1/events?after=&limit=                 every event, oldest first; after=newest: none yet
//   GET  /v1/deliveries?state=&before=&limit=     webhooks, newest first
//   GET  /v1/deliveries/{event}                   one, with its attempts and what is sent
//   POST /v1/deliveries/{event}/resend
//
// Thread safety: its gate's thread.
#pragma once

#include <string_view>

#include "http/replies.hpp"
#include "http/route.hpp"

namespace doorbuster {

class AdminEvents {
public:
    AdminEvents(Services& services, Replies& replies) : services_(services), replies_(replies) {}

    // False if the path is none of these calls.
    bool handle(Exchange&, const PathParts& path);

private:
    void events(Exchange&);
    void newest(Exchange&);
    void deliveries(Exchange&);
    void delivery(Exchange&, std::string_view event);
    void resend(Exchange&, std::string_view event);

    Services& services_;
    Replies& replies_;
};

}  // namespace doorbuster
