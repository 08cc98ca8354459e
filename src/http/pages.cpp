#include "http/pages.hpp"

#include "http/encoding.hpp"
#include "http/etag.hpp"
#include "http/page_thread.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view html_type = "text/html; charset=utf-8";

const PageForm& form_for(const Page& page, std::string_view accept_encoding) {
    switch (choose_encoding(accept_encoding, page.brotli.is_made())) {
        case Encoding::brotli:
            return page.brotli;
        case Encoding::gzip:
            return page.gzip;
        case Encoding::plain:
            break;
    }
    return page.plain;
}

}  // namespace

void PageEndpoints::set_page(const std::string& path, std::shared_ptr<const Page> page) {
    if (page) {
        pages_[path] = std::move(page);
    } else {
        pages_.erase(path);
    }
}

void PageEndpoints::show(Exchange& exchange, std::string_view path) {
    const auto found = pages_.find(path);
    if (found == pages_.end()) return replies_.refuse(exchange, Code::not_found);
    const PageForm& form = form_for(*found->second, exchange.request().accept_encoding);
    if (none_match_hits(exchange.request().if_none_match, form.etag)) {
        return replies_.send(
            exchange, Response{.status = 304, .content_type = {}, .headers = form.headers_not_modified});
    }
    replies_.send(exchange, Response{.content_type = html_type, .headers = form.headers, .body = form.body});
}

void PageEndpoints::show_closed(Exchange& exchange) {
    const auto found = pages_.find(std::string_view(PageThread::closed_path));
    if (found == pages_.end()) return replies_.refuse(exchange, Code::unavailable);
    const PageForm& form = form_for(*found->second, exchange.request().accept_encoding);
    replies_.send(
        exchange,
        Response{.status = 503, .content_type = html_type, .headers = form.headers, .body = form.body});
}

}  // namespace doorbuster
