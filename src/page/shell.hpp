// Shell: a page without its data: markup, style and script of one kind, put together once.
//
// The script and the style are inlined, and the policy names them by their hashes: nothing
// else that somebody may get into a page is run or painted.
//
// Thread safety: const calls from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doorbuster {

// What differs from page to page; all of it is text from elsewhere, and escaped here.
struct PageText {
    std::string_view language = "en";
    std::string_view title = {};
    std::string_view summary = {};
    std::string_view data = "null";  // JSON
    std::string_view body = {};      // the exception: markup, by who made it escaped
};

class Shell {
public:
    struct Parts {
        std::string_view html, style, script;
    };
    // REQUIRES: the html has no other placeholders than {{lang}}, {{title}}, {{summary}}, {{style}},
    // {{script}}, {{data}} and {{body}}.
    explicit Shell(const Parts&);

    std::string fill(const PageText&) const;

    // The policy of its pages; they may talk to their own origin and, where it is not empty, to
    // `api_origin`.
    std::string policy(std::string_view api_origin) const;

private:
    enum class Field { none, language, title, summary, data, body };
    struct Piece {
        std::string text;
        Field behind;  // what comes after the text
    };

    std::vector<Piece> pieces_;
    std::string style_hash_, script_hash_;  // 'sha256-…'; empty if there is none
};

// The markup with {{name}} replaced by a part, which may have placeholders of its own.
// REQUIRES: there is one.
std::string with_part(std::string_view html, std::string_view name, std::string_view part);

std::string html_escaped(std::string_view text);

// How a policy names what is inlined: 'sha256-…'.
std::string hash_source(std::string_view text);

// JSON that may stand inside a script element: no `<`, so no end of it and no comment.
std::string json_in_html(std::string_view json);

}  // namespace doorbuster
