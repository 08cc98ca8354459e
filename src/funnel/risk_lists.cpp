#include "funnel/risk_lists.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr size_t faults_max = 100;
constexpr std::string_view blanks = " \t\r";

std::optional<Address> next(Address address) {
    for (size_t i = address.bytes.size(); i-- > 0;) {
        if (++address.bytes[i] != 0) return address;
    }
    return std::nullopt;
}

std::string text_of(const AddressRange& range) {
    const bool is_v4 = range.first.is_v4() && range.last.is_v4();
    const unsigned bits = range.prefix_bits() - (is_v4 ? 96 : 0), whole = is_v4 ? 32 : 128;
    std::string text = range.first.text();
    if (bits != whole) text += '/' + std::to_string(bits);
    return text;
}

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Cuts the first word off.
std::string_view cut_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text = trimmed(text.substr(word.size()));
    return word;
}

bool has_control(std::string_view text) {
    return std::ranges::any_of(text,
                               [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace

Result<ListEntry, std::string> ListEntry::from(std::string_view list, std::string_view kind,
                                               std::string_view value) {
    ListEntry entry;
    if (list == "allow") {
        entry.standing = Standing::allowed;
    } else if (list != "block") {
        return std::string("a list is block or allow");
    }
    if (kind == "address") {
        const auto range = AddressRange::parse(value);
        if (!range) {
            return std::string(
                "an address is one like 203.0.113.7 or 2001:db8::1, or a range like 203.0.113.0/24 without "
                "bits behind its prefix");
        }
        entry.who = *range;
        return entry;
    }
    if (kind != "buyer") return std::string("an entry is about an address or a buyer");
    const auto buyer = BuyerId::from(value);
    // An entry is kept as a line of text, whose ends are no part of it.
    if (!buyer || has_control(value) || trimmed(value) != value) {
        return std::string(
            "a buyer is a text of 1 to 128 bytes without control characters, and without spaces at its ends");
    }
    entry.who = *buyer;
    return entry;
}

std::string_view ListEntry::list() const {
    return standing == Standing::allowed ? "allow" : "block";
}

std::string_view ListEntry::kind() const {
    return std::holds_alternative<AddressRange>(who) ? "address" : "buyer";
}

std::string ListEntry::value() const {
    if (const auto* range = std::get_if<AddressRange>(&who)) return text_of(*range);
    return std::get<BuyerId>(who).str();
}

std::string ListEntry::line() const {
    return std::string(list()) + ' ' + std::string(kind()) + ' ' + value();
}

RiskLists::RiskLists(std::span<const ListEntry> entries) {
    CHECK(entries.size() <= entries_max);
    std::vector<Range> v4, v6;
    for (const ListEntry& entry : entries) {
        if (const auto* range = std::get_if<AddressRange>(&entry.who)) {
            // As AddressSet does: a range of IPv6, however wide, says nothing about IPv4.
            const bool is_v4 = range->first.is_v4() && range->last.is_v4();
            (is_v4 ? v4 : v6).push_back({range->first, range->last, entry.standing});
            continue;
        }
        Standing& standing = buyers_[std::get<BuyerId>(entry.who)];
        standing = std::max(standing, entry.standing);
    }
    v4_ = flattened(std::move(v4));
    v6_ = flattened(std::move(v6));
}

// Ranges with a prefix nest or are apart, never overlap in part. So a sweep over their starts
// with a stack of those that are open, the narrowest on top, finds who counts where.
std::vector<RiskLists::Segment> RiskLists::flattened(std::vector<Range> ranges) {
    std::ranges::sort(ranges, [](const Range& a, const Range& b) {
        if (a.first != b.first) return a.first < b.first;
        if (a.last != b.last) return a.last > b.last;
        return a.standing < b.standing;  // of equal ranges the block is the last, and counts
    });
    std::vector<Segment> segments;
    std::vector<const Range*> open;
    auto begin = [&](const Address& first, Standing standing) {
        if (!segments.empty() && segments.back().first == first) segments.pop_back();
        segments.push_back({first, standing});
    };
    auto close = [&] {
        const auto behind = next(open.back()->last);
        open.pop_back();
        if (behind) begin(*behind, open.empty() ? Standing::neutral : open.back()->standing);
    };
    for (const Range& range : ranges) {
        while (!open.empty() && open.back()->last < range.first) close();
        begin(range.first, range.standing);
        open.push_back(&range);
    }
    while (!open.empty()) close();
    return segments;
}

Standing RiskLists::of(const Address& address) const {
    const std::vector<Segment>& segments = address.is_v4() ? v4_ : v6_;
    const auto behind = std::ranges::upper_bound(segments, address, {}, &Segment::first);
    return behind == segments.begin() ? Standing::neutral : std::prev(behind)->standing;
}

Standing RiskLists::of(const BuyerId& buyer) const {
    if (buyers_.empty()) return Standing::neutral;  // nearly always: the name need not be hashed
    const auto found = buyers_.find(buyer);
    return found == buyers_.end() ? Standing::neutral : found->second;
}

Result<std::vector<ListEntry>, ListFaults> parse_lists(std::string_view text) {
    std::vector<ListEntry> entries;
    ListFaults faults;
    size_t faults_total = 0;
    auto fault = [&](size_t line, const std::string& sentence) {
        if (++faults_total <= faults_max) faults.push_back("line " + std::to_string(line) + ": " + sentence);
    };
    for (size_t line = 1; !text.empty(); ++line) {
        const size_t end = text.find('\n');
        std::string_view rest = trimmed(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (rest.empty() || rest.front() == '#') continue;
        const std::string_view list = cut_word(rest), kind = cut_word(rest);
        auto entry = ListEntry::from(list, kind, rest);
        if (!entry) {
            fault(line, entry.error());
        } else if (entries.size() == RiskLists::entries_max) {
            fault(line, "more than " + std::to_string(RiskLists::entries_max) + " entries");
        } else {
            entries.push_back(*std::move(entry));
        }
    }
    if (faults_total > faults_max) {
        faults.push_back("and " + std::to_string(faults_total - faults_max) + " more");
    }
    if (!faults.empty()) return faults;
    return entries;
}

}  // namespace doorbuster
