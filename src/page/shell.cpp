#include "page/shell.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/check.hpp"
#include "base/crypto.hpp"

namespace doorbuster {

Shell::Shell(const Parts& parts) {
    std::string text;
    for (std::string_view rest = parts.html; !rest.empty();) {
        const size_t open = rest.find("{{");
        text += rest.substr(0, open);
        if (open == std::string_view::npos) break;
        const size_t close = rest.find("}}", open);
        CHECK(close != std::string_view::npos);
        const std::string_view name = rest.substr(open + 2, close - open - 2);
        rest.remove_prefix(close + 2);
        if (name == "style") {
            text += parts.style;
            style_hash_ = hash_source(parts.style);
            continue;
        }
        if (name == "script") {
            text += parts.script;
            script_hash_ = hash_source(parts.script);
            continue;
        }
        const Field field = name == "lang"      ? Field::language
                            : name == "title"   ? Field::title
                            : name == "summary" ? Field::summary
                            : name == "data"    ? Field::data
                            : name == "body"    ? Field::body
                                                : Field::none;
        CHECK(field != Field::none);
        pieces_.push_back({std::exchange(text, {}), field});
    }
    pieces_.push_back({std::move(text), Field::none});
}

std::string Shell::fill(const PageText& page) const {
    const std::string title = html_escaped(page.title), summary = html_escaped(page.summary),
                      language = html_escaped(page.language), data = json_in_html(page.data);
    std::string html;
    for (const Piece& piece : pieces_) {
        html += piece.text;
        switch (piece.behind) {
            case Field::none:
                break;
            case Field::language:
                html += language;
                break;
            case Field::title:
                html += title;
                break;
            case Field::summary:
                html += summary;
                break;
            case Field::data:
                html += data;
                break;
            case Field::body:
                html += page.body;
                break;
        }
    }
    return html;
}

std::string Shell::policy(std::string_view api_origin) const {
    const auto source_or_none = [](const std::string& hash) {
        return hash.empty() ? "'none'" : hash.c_str();
    };
    const std::string api = api_origin.empty() ? std::string() : fmt::format(" {}", api_origin);
    return fmt::format(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'{}; worker-src blob:; "
        "img-src 'self' data: blob:{}; base-uri 'none'; form-action 'self'{}; frame-ancestors 'none'",
        source_or_none(script_hash_), source_or_none(style_hash_), api, api, api);
}

std::string with_part(std::string_view html, std::string_view name, std::string_view part) {
    const std::string place = fmt::format("{{{{{}}}}}", name);
    const size_t at = html.find(place);
    CHECK(at != std::string_view::npos);
    return std::string(html).replace(at, place.size(), part);
}

std::string hash_source(std::string_view text) {
    return fmt::format("'sha256-{}'", base64(bytes_of(sha256(text))));
}

std::string html_escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string json_in_html(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace doorbuster
