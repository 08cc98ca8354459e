// Published: the pages as files for a CDN or nginx, with the compressed ones beside them.
//
//   index.html  orders.html  sales/SALE.html   each with .gz and .br
//   _headers     which headers go with which path, as Cloudflare Pages and Netlify read it
//   nginx.conf   the same for nginx: include it in the server block whose root the folder is
//
// Publishing several sales into one folder is fine: what they share is the same in each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "page/page_maker.hpp"

namespace doorbuster {

struct PublishedFile {
    std::string path;  // inside the folder
    std::string bytes;
};

std::vector<PublishedFile> published_files(const PageMaker& maker, std::string_view sale_id,
                                           const SaleOnPage& sale);

}  // namespace doorbuster
