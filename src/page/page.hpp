// Page: one page as it goes over the wire, in every encoding, with the headers that go with it.
//
// Made once, off the gates' way, and never altered: a hit copies bytes.
#pragma once

#include <string>
#include <string_view>

namespace doorbuster {

struct PageHeaders {
    std::string policy;     // Content-Security-Policy
    std::string cache;      // Cache-Control
    std::string further{};  // complete lines, each ended by CRLF
};

struct PageDraft {
    std::string html;
    PageHeaders headers;
};

struct PageForm {
    std::string body{};
    std::string etag{};
    std::string headers{};               // of a 200: all but Content-Type and Content-Length
    std::string headers_not_modified{};  // of a 304

    bool is_made() const { return !etag.empty(); }
};

struct Page {
    PageHeaders headers;
    PageForm plain, gzip, brotli;
};

// Plain and gzip, in a few milliseconds.
Page page_of(PageDraft draft);

// And the smallest forms, brotli and a better gzip, which take a third of a second.
Page with_small_forms(Page page);

}  // namespace doorbuster
