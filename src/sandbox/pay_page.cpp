#include "sandbox/pay_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "http/language.hpp"

namespace doorbuster::sandbox {

namespace {

struct Words {
    std::string_view title, notice, order, pay, decline, back, unknown;
    std::array<std::string_view, payment_states> states;
};

constexpr std::array<Words, languages> words_of{
    Words{"Pay",
          "A sandbox: no real money moves here.",
          "Order",
          "Pay",
          "Decline",
          "Back to the shop",
          "There is no such payment.",
          {"Please pay for your order.", "The payment was declined. You can try again.", "Paid. Thank you!",
           "This payment was cancelled.", "The payment was refunded."}},
    Words{"支付",
          "这是沙盒环境，不会产生真实扣款。",
          "订单",
          "支付",
          "拒绝支付",
          "返回商店",
          "没有这笔支付。",
          {"请为您的订单付款。", "支付被拒绝，您可以再试一次。", "支付成功，谢谢！", "这笔支付已取消。",
           "这笔支付已退款。"}},
    Words{"支付",
          "這是沙盒環境，不會產生真實扣款。",
          "訂單",
          "支付",
          "拒絕支付",
          "返回商店",
          "沒有這筆支付。",
          {"請為您的訂單付款。", "支付被拒絕，您可以再試一次。", "支付成功，謝謝！", "這筆支付已取消。",
           "這筆支付已退款。"}},
};

constexpr std::string_view style =
    "body{margin:0;min-height:100vh;display:grid;place-items:center;background:#f3f4f6;color:#111827;"
    "font:16px/1.5 system-ui,sans-serif}"
    "main{box-sizing:border-box;width:min(24rem,92vw);padding:2rem;background:#fff;border-radius:.75rem;"
    "box-shadow:0 1px 8px #0002}"
    "h1{margin:0;font-size:2rem;font-variant-numeric:tabular-nums}"
    "p{margin:.5rem 0;overflow-wrap:anywhere}.note{color:#4b5563;font-size:.875rem}"
    "form{margin:.75rem 0 "
    "0}button{width:100%;padding:.75rem;font:inherit;font-weight:600;border-radius:.5rem;"
    "border:1px solid #1d4ed8;background:#1d4ed8;color:#fff;cursor:pointer}"
    "button.second{background:#fff;color:#374151;border-color:#9ca3af}"
    "button:focus-visible,a:focus-visible{outline:3px solid #f59e0b;outline-offset:2px}"
    "@media (prefers-color-scheme:dark){body{background:#111827;color:#f9fafb}main{background:#1f2937}"
    ".note{color:#d1d5db}a{color:#93c5fd}button.second{background:#1f2937;color:#f9fafb}}";

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            case '\'':
                safe += "&#39;";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

const Words& words_in(Language language) {
    return words_of[static_cast<size_t>(language)];
}

std::string page(Language language, std::string_view content) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"{}\">\n<head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title><style>{}</style></head>\n"
        "<body><main>\n{}<p class=\"note\">{}</p>\n</main></body>\n</html>\n",
        tag_of(language), words_in(language).title, style, content, words_in(language).notice);
}

std::string button(std::string_view key, std::string_view act, std::string_view label,
                   std::string_view kind) {
    return fmt::format(
        "<form method=\"post\" action=\"/pay/{}/{}\"><button class=\"{}\">{}</button></form>\n", escaped(key),
        act, kind, label);
}

}  // namespace

std::string amount_text(int64_t amount_minor, std::string_view currency) {
    constexpr std::array<std::string_view, 14> without{"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF",
                                                       "KRW", "PYG", "RWF", "UGX", "VND", "XAF", "XPF"};
    constexpr std::array<std::string_view, 7> with_three{"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};
    const auto is_in = [&](const auto& list) {
        return std::find(list.begin(), list.end(), currency) != list.end();
    };
    if (is_in(without)) return fmt::format("{} {}", currency, amount_minor);
    if (is_in(with_three)) {
        return fmt::format("{} {}.{:03}", currency, amount_minor / 1000, amount_minor % 1000);
    }
    return fmt::format("{} {}.{:02}", currency, amount_minor / 100, amount_minor % 100);
}

std::string pay_page(const Payment& payment, Language language) {
    const Words& words = words_in(language);
    std::string content;
    // A tombstone has no amount to show.
    if (!payment.intent.currency.empty()) {
        content += fmt::format("<h1>{}</h1>\n<p class=\"note\">{} {}</p>\n",
                               escaped(amount_text(payment.intent.amount_minor, payment.intent.currency)),
                               words.order, escaped(payment.intent.reference));
    }
    content += fmt::format("<p role=\"status\">{}</p>\n", words.states[static_cast<size_t>(payment.state)]);
    const bool can_pay = payment.state == PaymentState::created || payment.state == PaymentState::declined;
    if (can_pay) content += button(payment.key, "capture", words.pay, "first");
    if (payment.state == PaymentState::created)
        content += button(payment.key, "decline", words.decline, "second");
    if (!payment.intent.return_url.empty()) {
        content +=
            fmt::format("<p><a href=\"{}\">{}</a></p>\n", escaped(payment.intent.return_url), words.back);
    }
    return page(language, content);
}

std::string unknown_payment_page(Language language) {
    return page(language, fmt::format("<p role=\"status\">{}</p>\n", words_in(language).unknown));
}

}  // namespace doorbuster::sandbox
