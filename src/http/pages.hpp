// PageEndpoints: the buyers' pages. They were made elsewhere; here one is found, the form that
// the client takes is chosen, and its bytes are sent.
//
// Thread safety: its gate's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "http/replies.hpp"
#include "page/page.hpp"

namespace doorbuster {

class PageEndpoints {
public:
    explicit PageEndpoints(Replies& replies) : replies_(replies) {}

    void set_page(const std::string& path, std::shared_ptr<const Page> page);

    void show(Exchange&, std::string_view path);
    void show_closed(Exchange&);   // 503
    void show_missing(Exchange&);  // 404, as a page for who reads pages

private:
    void show_instead(Exchange&, std::string_view path, Code);

    Replies& replies_;
    std::map<std::string, std::shared_ptr<const Page>, std::less<>> pages_;
};

}  // namespace doorbuster
