#include "http/encoding.hpp"

#include <algorithm>
#include <optional>

#include "base/words.hpp"
#include "http/weight.hpp"

namespace doorbuster {

Encoding choose_encoding(std::string_view accept_encoding, bool offers_brotli) {
    std::optional<int> brotli, gzip, plain, others;
    while (!accept_encoding.empty()) {
        std::string_view parameters = cut(accept_encoding, ',');
        const std::string_view name = trim(cut(parameters, ';'));
        const int weight = weight_of(parameters);
        if (equal_words(name, "br")) brotli = weight;
        if (equal_words(name, "gzip") || equal_words(name, "x-gzip")) gzip = weight;
        if (equal_words(name, "identity")) plain = weight;
        if (name == "*") others = weight;
    }
    const int brotli_weight = offers_brotli ? brotli.value_or(others.value_or(0)) : 0;
    const int gzip_weight = gzip.value_or(others.value_or(0));
    const int best = std::max(brotli_weight, gzip_weight);
    // Plain needs no naming; who names it above the others means it.
    if (best == 0 || (plain && *plain > best)) return Encoding::plain;
    return brotli_weight == best ? Encoding::brotli : Encoding::gzip;
}

}  // namespace doorbuster
