// AdminOrders: the shop's words about single orders, and what is to become of dead letters.
//
//   GET  /v1/orders/{order}                with its payments
//   POST /v1/orders/{order}/refund         {"units_return":true,"reason":"…"}
//   GET  /v1/dead-letters                  POST /v1/dead-letters/{position}/retry, …/drop
//   GET  /v1/dead-letters/{position}
//
// Thread safety: its gate's thread.
#pragma once

#include <string_view>

#include "http/replies.hpp"
#include "http/route.hpp"

namespace doorbuster {

class AdminOrders {
public:
    AdminOrders(Services& services, Replies& replies) : services_(services), replies_(replies) {}

    // False if the path is none of these calls.
    bool handle(Exchange&, const PathParts& path);

private:
    void show(Exchange&, std::string_view order);
    void refund(Exchange&, std::string_view order);
    void letters(Exchange&);
    void letter(Exchange&, std::string_view position);
    void end_letter(Exchange&, std::string_view position, bool retry);

    Services& services_;
    Replies& replies_;
};

}  // namespace doorbuster
