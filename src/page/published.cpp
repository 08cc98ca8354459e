#include "page/published.hpp"

#include <fmt/format.h>

namespace doorbuster {

namespace {

// One place of the site: what it is called on the wire, and how nginx finds its file.
struct Place {
    std::string_view path, location, file;
    PageHeaders headers;
};

std::string headers_file(const std::vector<Place>& places) {
    std::string text;
    for (const Place& place : places) {
        text += fmt::format(
            "{}\n"
            "  Cache-Control: {}\n"
            "  Content-Security-Policy: {}\n"
            "  Referrer-Policy: same-origin\n"
            "  X-Content-Type-Options: nosniff\n",
            place.path, place.headers.cache, place.headers.policy);
    }
    return text;
}

std::string nginx_file(const std::vector<Place>& places) {
    std::string text =
        "# Written by `doorbuster publish`. Include it in the server block that has this folder as its "
        "root.\n"
        "# nginx with the brotli module: add `brotli_static on;` for the .br files.\n"
        "gzip_static on;\n"
        "gzip_vary on;\n"
        "charset utf-8;\n";
    for (const Place& place : places) {
        text += fmt::format(
            "location {} {{\n"
            "    default_type text/html;\n"
            "    try_files {} =404;\n"
            "    add_header Cache-Control \"{}\";\n"
            "    add_header Content-Security-Policy \"{}\";\n"
            "    add_header Referrer-Policy \"same-origin\";\n"
            "    add_header X-Content-Type-Options \"nosniff\";\n"
            "}}\n",
            place.location, place.file, place.headers.cache, place.headers.policy);
    }
    return text;
}

void add_page(std::vector<PublishedFile>& files, const std::string& path, PageDraft draft) {
    Page page = with_small_forms(page_of(std::move(draft)));
    files.push_back({path + ".br", std::move(page.brotli.body)});
    files.push_back({path + ".gz", std::move(page.gzip.body)});
    files.push_back({path, std::move(page.plain.body)});
}

}  // namespace

std::vector<PublishedFile> published_files(const PageMaker& maker, std::string_view sale_id,
                                           const SaleOnPage& sale) {
    PageDraft sale_page = maker.sale(sale), list_page = maker.sales(), orders_page = maker.orders();
    const std::vector<Place> places{
        {"/", "= /", "/index.html", list_page.headers},
        {"/orders", "= /orders", "/orders.html", orders_page.headers},
        {"/sales/*", "~ ^/sales/[a-z0-9-]+$", "$uri.html", sale_page.headers},
    };
    std::vector<PublishedFile> files;
    files.push_back({"_headers", headers_file(places)});
    files.push_back({"nginx.conf", nginx_file(places)});
    add_page(files, "index.html", std::move(list_page));
    add_page(files, "orders.html", std::move(orders_page));
    add_page(files, fmt::format("sales/{}.html", sale_id), std::move(sale_page));
    return files;
}

}  // namespace doorbuster
