#include "sandbox/pay_page.hpp"

#include <fmt/format.h>

#include <array>

#include "http/language.hpp"
#include "page/assets.hpp"
#include "page/shell.hpp"
#include "sandbox/money_text.hpp"

namespace doorbuster::sandbox {

namespace {

struct Words {
    std::string_view title, notice, order, pay, decline, back, unknown;
    std::array<std::string_view, payment_states> states;
};

// {} stands for the amount.
constexpr std::array<Words, languages> words_of{
    Words{"Pay",
          "A sandbox: no real money moves here.",
          "Order",
          "Pay {}",
          "Decline (test)",
          "Back to the shop",
          "There is no such payment.",
          {"Please pay for your order.", "The payment was declined. You can try again.", "Paid. Thank you!",
           "This payment was cancelled.", "The payment was refunded."}},
    Words{"支付",
          "这是沙盒环境，不会产生真实扣款。",
          "订单",
          "支付 {}",
          "拒绝支付（测试）",
          "返回商店",
          "没有这笔支付。",
          {"请为您的订单付款。", "支付被拒绝，您可以再试一次。", "支付成功，谢谢！", "这笔支付已取消。",
           "这笔支付已退款。"}},
    Words{"付款",
          "這是沙盒環境，不會產生真實扣款。",
          "訂單",
          "付款 {}",
          "拒絕付款（測試）",
          "返回商店",
          "沒有這筆付款。",
          {"請為您的訂單付款。", "付款被拒絕，您可以再試一次。", "付款成功，謝謝！", "這筆付款已取消。",
           "這筆付款已退款。"}},
};
constexpr std::array<std::string_view, languages> language_names{"English", "简体中文", "繁體中文"};

// How far the door on the page stands open.
std::string_view door_in(PaymentState state) {
    switch (state) {
        case PaymentState::created:
        case PaymentState::declined:
            return "stage ajar";
        case PaymentState::captured:
            return "stage wide";
        case PaymentState::voided:
        case PaymentState::refunded:
            break;
    }
    return "stage";
}

const Words& words_in(Language language) {
    return words_of[static_cast<size_t>(language)];
}

const Shell& shell() {
    static const Shell made({.html = assets::frame_html(), .style = assets::style(), .script = {}});
    return made;
}

// Without a script a language is chosen by a link, to the same page.
std::string language_links(Language chosen) {
    std::string links;
    for (const Language language : {Language::en, Language::zh_hans, Language::zh_hant}) {
        const std::string_view tag = tag_of(language), name = language_names[static_cast<size_t>(language)];
        links += language == chosen ? fmt::format("<b lang=\"{}\">{}</b>\n", tag, name)
                                    : fmt::format("<a href=\"?lang={0}\" lang=\"{0}\">{1}</a>\n", tag, name);
    }
    return links;
}

// `goods` is what is paid for, `panel` how it stands and what can be done.
std::string page(Language language, std::string_view goods, std::string_view panel) {
    const Words& words = words_in(language);
    const std::string body = fmt::format(
        "<header><b class=\"home\">{}</b>\n{}</header>\n"
        "<main><section class=\"goods\">\n{}<p class=\"fair\">{}</p>\n</section>\n"
        "<div class=\"panel\">\n{}</div></main>",
        words.title, language_links(language), goods, words.notice, panel);
    return shell().fill(
        {.language = tag_of(language), .title = words.title, .summary = words.notice, .body = body});
}

std::string stage(std::string_view kind, std::string_view sentence) {
    return fmt::format(
        "<div class=\"{}\"><div class=\"door\"></div>"
        "<div id=\"status\" role=\"status\"><strong id=\"headline\">{}</strong></div></div>\n",
        kind, sentence);
}

struct Button {
    std::string_view act, label, kind;
};

// What follows is in the same language.
std::string button(std::string_view key, Language language, const Button& button) {
    return fmt::format(
        "<form method=\"post\" action=\"/pay/{}/{}?lang={}\"><button class=\"{}\">{}</button></form>\n",
        html_escaped(key), button.act, tag_of(language), button.kind, button.label);
}

}  // namespace

std::string pay_page(const Payment& payment, Language language) {
    const Words& words = words_in(language);
    std::string goods, amount;
    // A tombstone has no amount to show.
    if (!payment.intent.currency.empty()) {
        amount = html_escaped(money_text(payment.intent.amount_minor, payment.intent.currency, language));
        goods += fmt::format("<h1>{}</h1>\n<p>{} {}</p>\n", amount, words.order,
                             html_escaped(payment.intent.reference));
    }
    std::string panel = stage(door_in(payment.state), words.states[static_cast<size_t>(payment.state)]);
    const bool can_pay = payment.state == PaymentState::created || payment.state == PaymentState::declined;
    if (can_pay) {
        const std::string pay = fmt::format(fmt::runtime(words.pay), amount);
        panel += button(payment.key, language, {"capture", pay, "first"});
    }
    if (payment.state == PaymentState::created)
        panel += button(payment.key, language, {"decline", words.decline, "second"});
    if (!payment.intent.return_url.empty()) {
        panel += fmt::format("<p><a id=\"back\" href=\"{}\">{}</a></p>\n",
                             html_escaped(payment.intent.return_url), words.back);
    }
    return page(language, goods, panel);
}

std::string unknown_payment_page(Language language) {
    return page(language, {}, stage("stage", words_in(language).unknown));
}

const std::string& pay_page_policy() {
    static const std::string policy = shell().policy("");
    return policy;
}

}  // namespace doorbuster::sandbox
