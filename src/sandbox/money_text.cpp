#include "sandbox/money_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace doorbuster::sandbox {

namespace {

struct Signs {
    std::string_view currency;
    std::array<std::string_view, languages> signs;  // en, zh-Hans, zh-Hant, as CLDR has them
};

constexpr std::array<Signs, 14> known{{
    {"AUD", {"A$", "AU$", "AU$"}},
    {"BRL", {"R$", "R$", "R$"}},
    {"CAD", {"CA$", "CA$", "CA$"}},
    {"CNY", {"CN¥", "¥", "CN¥"}},
    {"EUR", {"€", "€", "€"}},
    {"GBP", {"£", "£", "£"}},
    {"HKD", {"HK$", "HK$", "HK$"}},
    {"INR", {"₹", "₹", "₹"}},
    {"JPY", {"¥", "JP¥", "¥"}},
    {"KRW", {"₩", "₩", "￦"}},
    {"NZD", {"NZ$", "NZ$", "NZ$"}},
    {"TWD", {"NT$", "NT$", "$"}},
    {"USD", {"$", "US$", "US$"}},
    {"VND", {"₫", "₫", "₫"}},
}};

// ISO 4217, where it is not two.
constexpr std::array<std::string_view, 16> without{"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW",
                                                   "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"};
constexpr std::array<std::string_view, 7> with_three{"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};

int decimals_of(std::string_view currency) {
    const auto is_in = [&](const auto& list) {
        return std::find(list.begin(), list.end(), currency) != list.end();
    };
    return is_in(without) ? 0 : is_in(with_three) ? 3 : 2;
}

// A currency that has no sign is named, with a space that does not break.
std::string sign_of(std::string_view currency, Language language) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Signs& signs) { return signs.currency == currency; });
    if (found == known.end()) return fmt::format("{}\u00a0", currency);
    return std::string(found->signs[static_cast<size_t>(language)]);
}

std::string grouped(int64_t value) {
    std::string text = std::to_string(value);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<size_t>(at), 1, ',');
    return text;
}

}  // namespace

std::string money_text(int64_t amount_minor, std::string_view currency, Language language) {
    const int decimals = decimals_of(currency);
    int64_t unit = 1;
    for (int i = 0; i < decimals; ++i) unit *= 10;
    std::string text = sign_of(currency, language) + grouped(amount_minor / unit);
    if (amount_minor % unit != 0) text += fmt::format(".{:0{}}", amount_minor % unit, decimals);
    return text;
}

}  // namespace doorbuster::sandbox
