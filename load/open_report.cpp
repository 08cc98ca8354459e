#include "load/open_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace doorbuster::load {

namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

bool is_decided(const Fate& fate) {
    return fate.status == 202 || fate.status == 409;
}

// Sorts what it is given.
double percentile_ms(std::vector<uint32_t>& waited_us, double share) {
    if (waited_us.empty()) return 0;
    std::ranges::sort(waited_us);
    const auto place = static_cast<size_t>(share * static_cast<double>(waited_us.size() - 1) + 0.5);
    return static_cast<double>(waited_us[place]) / 1000;
}

// Everything that was due in one stretch of time, and how much was answered in it.
struct Stretch {
    uint64_t due = 0, answered = 0, decided = 0;  // the latter two by when the answer came
    uint64_t left = 0, lost = 0, pending = 0;
    std::map<int, uint64_t> by_status;
    std::vector<uint32_t> answered_us, decided_us;
    nanoseconds over_at{0};

    void add_due(const Fate& fate, nanoseconds over) {
        ++due;
        over_at = std::max(over_at, over);
        left += fate.status == Fate::left;
        lost += fate.status == Fate::lost;
        pending += fate.status == Fate::pending;
        if (fate.status <= 0) return;
        ++by_status[fate.status];
        answered_us.push_back(fate.waited_us);
        if (is_decided(fate)) decided_us.push_back(fate.waited_us);
    }
    void add_answered(const Fate& fate) {
        ++answered;
        decided += is_decided(fate);
    }
};

std::string phase_json(const Phase& phase, Stretch& stretch) {
    std::string statuses;
    for (const auto& [status, count] : stretch.by_status) {
        statuses += fmt::format("{}\"{}\":{}", statuses.empty() ? "" : ",", status, count);
    }
    return fmt::format(
        R"({{"rate_per_second":{:.0f},"seconds":{},"due":{},"left":{},"lost":{},"pending":{},"status":{{{}}},)"
        R"("over_at_s":{:.3f},"answered_per_second":{:.1f},"decided_per_second":{:.1f},"answered_ms_p50":{:.2f},)"
        R"("answered_ms_p99":{:.2f},"decided_ms_p50":{:.2f},"decided_ms_p99":{:.2f}}})",
        phase.rate_per_second, phase.seconds, stretch.due, stretch.left, stretch.lost, stretch.pending,
        statuses, duration<double>(stretch.over_at).count(),
        static_cast<double>(stretch.answered) / phase.seconds,
        static_cast<double>(stretch.decided) / phase.seconds, percentile_ms(stretch.answered_us, 0.5),
        percentile_ms(stretch.answered_us, 0.99), percentile_ms(stretch.decided_us, 0.5),
        percentile_ms(stretch.decided_us, 0.99));
}

}  // namespace

std::string open_report(const std::vector<Phase>& phases, const Schedule& schedule, const OpenTally& tally) {
    constexpr nanoseconds window = milliseconds(100);
    std::vector<nanoseconds> phase_ends;
    nanoseconds end{0};
    for (const Phase& phase : phases) {
        phase_ends.push_back(end += nanoseconds(static_cast<int64_t>(phase.seconds * 1e9)));
    }
    std::vector<Stretch> by_phase(phases.size() + 1);  // one more for what is answered after the end
    std::vector<Stretch> by_window(static_cast<size_t>(std::max(tally.elapsed, end) / window) + 1);
    const auto phase_at = [&](nanoseconds at) {
        return static_cast<size_t>(std::ranges::upper_bound(phase_ends, at) - phase_ends.begin());
    };
    for (size_t i = 0; i < tally.fates.size(); ++i) {
        const Fate& fate = tally.fates[i];
        const nanoseconds due = schedule.due(i);
        const nanoseconds answered_at = due + std::chrono::microseconds(fate.waited_us);
        by_phase[phase_at(due)].add_due(fate, answered_at);
        by_window[static_cast<size_t>(due / window)].add_due(fate, answered_at);
        if (fate.status <= 0) continue;
        by_phase[phase_at(answered_at)].add_answered(fate);
        by_window[std::min(by_window.size() - 1, static_cast<size_t>(answered_at / window))].add_answered(
            fate);
    }

    std::string phases_json, windows_json;
    for (size_t i = 0; i < phases.size(); ++i) {
        phases_json += (i == 0 ? "" : ",") + phase_json(phases[i], by_phase[i]);
    }
    for (size_t i = 0; i < by_window.size(); ++i) {
        windows_json += fmt::format(
            R"({}{{"at_s":{:.1f},"due":{},"due_decided":{},"answered":{},"decided":{},"answered_ms_p99":{:.2f}}})",
            i == 0 ? "" : ",", duration<double>(window * static_cast<int64_t>(i)).count(), by_window[i].due,
            by_window[i].decided_us.size(), by_window[i].answered, by_window[i].decided,
            percentile_ms(by_window[i].answered_us, 0.99));
    }
    return fmt::format(
        R"({{"phases":[{}],"windows":[{}],"sent_late_ms_max":{:.2f},"elapsed_s":{:.3f},"cpu_s":{:.3f}}})",
        phases_json, windows_json, duration<double, std::milli>(tally.sent_late_max).count(),
        duration<double>(tally.elapsed).count(), duration<double>(tally.cpu).count());
}

}  // namespace doorbuster::load
