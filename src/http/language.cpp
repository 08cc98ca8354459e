#include "http/language.hpp"

#include <optional>

#include "base/check.hpp"
#include "base/words.hpp"
#include "http/weight.hpp"

namespace doorbuster {

namespace {

bool begins_with_tag(std::string_view tag, std::string_view prefix) {
    return equal_words(tag.substr(0, prefix.size()), prefix) &&
           (tag.size() == prefix.size() || tag[prefix.size()] == '-');
}

std::optional<Language> language_of(std::string_view tag) {
    if (tag == "*" || begins_with_tag(tag, "en")) return Language::en;
    for (const std::string_view traditional : {"zh-Hant", "zh-TW", "zh-HK", "zh-MO"}) {
        if (begins_with_tag(tag, traditional)) return Language::zh_hant;
    }
    if (begins_with_tag(tag, "zh")) return Language::zh_hans;
    return std::nullopt;
}

}  // namespace

Language choose_language(std::string_view accept_language) {
    Language best = Language::en;
    int best_weight = 0;
    while (!accept_language.empty()) {
        std::string_view parameters = cut(accept_language, ',');
        const auto language = language_of(trim(cut(parameters, ';')));
        if (!language) continue;
        if (const int weight = weight_of(parameters); weight > best_weight) {
            best = *language;
            best_weight = weight;
        }
    }
    return best;
}

std::string_view tag_of(Language language) {
    switch (language) {
        case Language::en:
            return "en";
        case Language::zh_hans:
            return "zh-Hans";
        case Language::zh_hant:
            return "zh-Hant";
    }
    CHECK(false);
    return "en";
}

}  // namespace doorbuster
