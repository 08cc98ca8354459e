#include "load/schedule.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace doorbuster::load {

namespace {

std::optional<double> positive(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e7)
        return std::nullopt;
    return value;
}

}  // namespace

Schedule::Schedule(const std::vector<Phase>& phases) {
    for (const Phase& phase : phases) {
        parts_.push_back({.first = size_, .begins = length_, .ns_each = 1e9 / phase.rate_per_second});
        size_ += static_cast<size_t>(phase.rate_per_second * phase.seconds);
        length_ += Span(static_cast<int64_t>(phase.seconds * 1e9));
    }
}

std::optional<std::vector<Phase>> Schedule::parse(std::string_view text) {
    std::vector<Phase> phases;
    for (;;) {
        const size_t end = text.find(',');
        const std::string_view part = text.substr(0, end);
        const size_t colon = part.find(':');
        if (colon == std::string_view::npos) return std::nullopt;
        const auto rate = positive(part.substr(0, colon)), seconds = positive(part.substr(colon + 1));
        if (!rate || !seconds) return std::nullopt;
        phases.push_back({.rate_per_second = *rate, .seconds = *seconds});
        if (end == std::string_view::npos) return phases;
        text.remove_prefix(end + 1);
    }
}

Schedule::Span Schedule::due(size_t arrival) const {
    const auto behind = std::ranges::upper_bound(parts_, arrival, {}, &Part::first);
    const Part& part = *std::prev(behind);
    return part.begins + Span(static_cast<int64_t>(static_cast<double>(arrival - part.first) * part.ns_each));
}

}  // namespace doorbuster::load
