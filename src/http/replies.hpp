// Replies: how the endpoints answer, now or from another thread, counted either way.
//
// Thread safety: its gate's thread, except `later`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "funnel/negative_cache.hpp"
#include "http/exchange.hpp"
#include "http/services.hpp"
#include "metrics/probe.hpp"
#include "store/errors.hpp"

namespace doorbuster {

constexpr std::string_view no_store = "Cache-Control: no-store\r\n";

struct Answer {
    int status = 200;
    std::string headers{no_store};
    std::string body;
};
using Reply = std::variant<Answer, Problem>;

class Replies {
public:
    Replies(Services& services, Probe& probe) : services_(services), probe_(probe) {}

    void send(Exchange&, const Response&);
    void send(Exchange&, const Reply&);
    void refuse(Exchange&, Code);
    void refuse(Exchange&, Code, std::string_view headers);
    void refuse(Exchange&, const Problem&);
    void refuse(Exchange&, const PreparedRefusal&, const PurchaseId& named = {});
    void refuse_method(Exchange&, std::string_view allow);

    // From any thread: the reply leaves on the exchange's own gate thread.
    void later(Exchange&, Reply);

    // Answers with what `read` finds on a lookup thread.
    void look_up(Exchange&, std::function<Reply(Lookups::Readers&)> read);

    // The same for one thing that may not be there: what was just looked up in vain is not
    // looked up again.
    void look_up(Exchange&, NegativeCache&, const NegativeCache::Question&,
                 std::function<Reply(Lookups::Readers&)> read);

    // Runs `task` on the orders thread; it answers with `later`.
    void on_orders_thread(Exchange&, std::function<void()> task);

private:
    Services& services_;
    Probe& probe_;
};

// A failed store is told to the log; the one who asked hears no more than that it failed.
Problem failed_store(const StoreError&);

inline bool is_read(Method method) {
    return method == Method::get || method == Method::head;
}

}  // namespace doorbuster
