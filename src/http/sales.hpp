// SalesEndpoints: what everybody may read about the sales.
//
// The JSON of every sale is written when the catalogue is made, not when somebody
// asks: both as recorded and as sold out, since that comes and goes with the last unit.
//
// Thread safety: its gate's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/replies.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

class SalesEndpoints {
public:
    explicit SalesEndpoints(Replies& replies) : replies_(replies) {}

    void set_catalogue(std::shared_ptr<const Catalogue>);

    // Nothing for a sale that the public may not know of: a draft does not exist yet.
    const ListedSale* find(std::string_view sale) const;

    void list(Exchange&);
    void show(Exchange&, std::string_view sale);
    void stock(Exchange&, std::string_view sale);

private:
    struct Page {
        std::string body, headers, etag;
    };
    struct Pages {
        const ListedSale* listed;
        Page as_recorded, sold_out;

        bool is_sold_out() const { return listed->state_now() != listed->state; }
        const Page& now() const { return is_sold_out() ? sold_out : as_recorded; }
    };

    static Page page_of(std::string body);
    void send(Exchange&, const Page&);

    Replies& replies_;
    std::shared_ptr<const Catalogue> catalogue_;
    std::map<std::string_view, Pages> pages_;  // keys live in the catalogue

    // The list as last asked for, and which of its sales were sold out then.
    Page list_;
    std::vector<bool> list_sold_out_;
    bool list_is_made_ = false;
};

}  // namespace doorbuster
