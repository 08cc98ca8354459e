#include "base/rfc3339.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

namespace doorbuster {

using namespace std::chrono;

std::string format_rfc3339(Instant at) {
    const auto day = floor<days>(at);
    const year_month_day date(day);
    const hh_mm_ss time(at - day);
    const auto ms = time.subseconds().count();
    std::string text =
        fmt::format(FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}"), static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    time.hours().count(), time.minutes().count(), time.seconds().count());
    if (ms != 0) fmt::format_to(std::back_inserter(text), FMT_COMPILE(".{:03}"), ms);
    text += 'Z';
    return text;
}

namespace {

class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    // Exactly `digits` decimal digits; -1 for anything else.
    int number(size_t digits) {
        if (rest_.size() < digits) return fail();
        int value = 0;
        for (size_t i = 0; i < digits; ++i) {
            if (rest_[i] < '0' || rest_[i] > '9') return fail();
            value = value * 10 + (rest_[i] - '0');
        }
        rest_.remove_prefix(digits);
        return value;
    }

    bool take(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char wanted) {
        if (!take(wanted)) fail();
    }

    milliseconds fraction() {
        int64_t ms = 0, weight = 100;
        size_t digits = 0;
        for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++digits) {
            ms += (rest_.front() - '0') * weight;
            weight /= 10;
            rest_.remove_prefix(1);
        }
        if (digits == 0 || digits > 9) fail();
        return milliseconds(ms);
    }

    bool failed() const { return failed_; }
    bool at_end() const { return rest_.empty(); }

private:
    int fail() {
        failed_ = true;
        return -1;
    }

    std::string_view rest_;
    bool failed_ = false;
};

}  // namespace

std::optional<Instant> parse_rfc3339(std::string_view text) {
    Reader in(text);
    const int y = in.number(4);
    in.expect('-');
    const int mo = in.number(2);
    in.expect('-');
    const int d = in.number(2);
    if (!in.take('T') && !in.take('t')) return std::nullopt;
    const int h = in.number(2);
    in.expect(':');
    const int mi = in.number(2);
    in.expect(':');
    const int s = in.number(2);
    const milliseconds fraction = in.take('.') ? in.fraction() : milliseconds(0);
    minutes offset(0);
    if (!in.take('Z') && !in.take('z')) {
        const bool ahead = in.take('+');
        if (!ahead) in.expect('-');
        const int oh = in.number(2);
        in.expect(':');
        const int om = in.number(2);
        if (oh > 23 || om > 59) return std::nullopt;
        offset = (ahead ? 1 : -1) * (hours(oh) + minutes(om));
    }
    if (in.failed() || !in.at_end() || y < 1970 || h > 23 || mi > 59 || s > 59) return std::nullopt;
    const year_month_day date{year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d))};
    if (!date.ok()) return std::nullopt;
    const Instant at = sys_days(date) + hours(h) + minutes(mi) + seconds(s) + fraction - offset;
    if (at < Instant{}) return std::nullopt;
    return at;
}

}  // namespace doorbuster
