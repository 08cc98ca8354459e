// SalesEndpoints: what everybody may read about the sales.
//
// The JSON of a sale is written when it changes, not when somebody asks: both as recorded
// and as sold out, since that comes and goes with the last unit.
//
// Thread safety: its gate's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/door.hpp"
#include "http/replies.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

class SalesEndpoints {
public:
    SalesEndpoints(Clock& clock, Replies& replies, const Door& door)
        : clock_(clock), replies_(replies), door_(door) {}

    // Costs what has changed: pages of sales that are the same object stay.
    void set_catalogue(std::shared_ptr<const Catalogue>);

    // Nothing for a sale that the public may not know of: a draft does not exist yet.
    const ListedSale* find(std::string_view sale) const;

    void list(Exchange&);  // what is on or to come; a sale that is over is found by its id
    void show(Exchange&, std::string_view sale);
    void stock(Exchange&, std::string_view sale);

private:
    struct Page {
        std::string body, headers, etag;
    };
    struct Pages {
        std::shared_ptr<const ListedSale> listed;
        Page as_recorded, sold_out;
        std::string stock{};  // as last asked for
        Uptime stock_at{};

        bool is_over() const { return phase_in(listed->state) == Phase::closed; }
        bool is_sold_out() const { return listed->state_now() != listed->state; }
        const Page& now() const { return is_sold_out() ? sold_out : as_recorded; }
    };

    static Page page_of(std::string body);
    static Pages pages_of(std::shared_ptr<const ListedSale>);
    void send(Exchange&, const Page&);

    Clock& clock_;
    Replies& replies_;
    const Door& door_;
    std::map<std::string, Pages, std::less<>> pages_;

    // The list as last asked for, and which of its sales were sold out then.
    // Under load it is shown as it is, though a sale may have sold out since.
    Page list_;
    std::vector<bool> list_sold_out_;
    bool list_is_made_ = false;
};

}  // namespace doorbuster
