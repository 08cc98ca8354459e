#include "page/page.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "page/compress.hpp"

namespace doorbuster {

namespace {

// Two encodings are two representations, so each has a tag of its own.
PageForm form_of(const PageHeaders& headers, std::string etag, std::string_view encoding, std::string body) {
    PageForm form{.body = std::move(body), .etag = std::move(etag)};
    form.headers_not_modified = fmt::format("Cache-Control: {}\r\nVary: Accept-Encoding\r\nETag: {}\r\n{}",
                                            headers.cache, form.etag, headers.further);
    if (!encoding.empty()) form.headers = fmt::format("Content-Encoding: {}\r\n", encoding);
    form.headers += form.headers_not_modified;
    form.headers +=
        fmt::format("Content-Security-Policy: {}\r\nReferrer-Policy: same-origin\r\n", headers.policy);
    return form;
}

std::string etag_with(std::string_view plain_etag, std::string_view encoding) {
    return fmt::format("{}-{}\"", plain_etag.substr(0, plain_etag.size() - 1), encoding);
}

}  // namespace

Page page_of(PageDraft draft) {
    const Digest digest = sha256(draft.html);
    const std::string etag = fmt::format("\"{}\"", base64url(bytes_of(digest).substr(0, 12)));
    Page page{.headers = std::move(draft.headers), .plain = {}, .gzip = {}, .brotli = {}};
    page.gzip = form_of(page.headers, etag_with(etag, "gzip"), "gzip", gzipped(draft.html));
    page.plain = form_of(page.headers, etag, {}, std::move(draft.html));
    return page;
}

// Other bytes are another tag.
Page with_small_forms(Page page) {
    page.gzip =
        form_of(page.headers, etag_with(page.plain.etag, "gz"), "gzip", small_gzipped(page.plain.body));
    page.brotli = form_of(page.headers, etag_with(page.plain.etag, "br"), "br", brotlied(page.plain.body));
    return page;
}

}  // namespace doorbuster
