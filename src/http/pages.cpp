#include "http/pages.hpp"

#include "base/words.hpp"
#include "http/encoding.hpp"
#include "http/etag.hpp"
#include "http/page_thread.hpp"
#include "http/weight.hpp"

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

// Browsers name it; programs that take anything do not.
bool reads_pages(std::string_view accept) {
    while (!accept.empty()) {
        std::string_view parameters = cut(accept, ',');
        if (equal_words(trim(cut(parameters, ';')), "text/html")) return weight_of(parameters) > 0;
    }
    return false;
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
    if (found == pages_.end()) return show_missing(exchange);
    const PageForm& form = form_for(*found->second, exchange.request().accept_encoding);
    if (none_match_hits(exchange.request().if_none_match, form.etag)) {
        return replies_.send(
            exchange, Response{.status = 304, .content_type = {}, .headers = form.headers_not_modified});
    }
    replies_.send(exchange, Response{.content_type = html_type, .headers = form.headers, .body = form.body});
}

void PageEndpoints::show_instead(Exchange& exchange, std::string_view path, Code code) {
    const auto found = pages_.find(path);
    if (found == pages_.end()) return replies_.refuse(exchange, code);
    const PageForm& form = form_for(*found->second, exchange.request().accept_encoding);
    replies_.send(exchange, Response{.status = status_of(code),
                                     .content_type = html_type,
                                     .headers = form.headers,
                                     .body = form.body});
}

void PageEndpoints::show_closed(Exchange& exchange) {
    show_instead(exchange, PageThread::closed_path, Code::unavailable);
}

void PageEndpoints::show_missing(Exchange& exchange) {
    if (!reads_pages(exchange.request().accept)) return replies_.refuse(exchange, Code::not_found);
    show_instead(exchange, PageThread::missing_path, Code::not_found);
}

}  // namespace doorbuster
