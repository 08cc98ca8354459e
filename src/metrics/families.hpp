// Families: the metrics of one page while it is written. Labels are escaped by the
// serializer, so that a name out of a request cannot forge a line.
//
// Thread safety: none; it lives for one page.
#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace doorbuster {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// What stands for all rows beyond a bound; no sale and no item can have this name.
inline const std::string rest_label = "*";

class Families {
public:
    // Begins a family; what is added afterwards belongs to it.
    void counter(std::string name, std::string help) {
        begin(std::move(name), std::move(help), prometheus::MetricType::Counter);
    }
    void gauge(std::string name, std::string help) {
        begin(std::move(name), std::move(help), prometheus::MetricType::Gauge);
    }

    template <class Number>
    void add(Number value, Labels labels = {}) {
        prometheus::ClientMetric metric;
        metric.label = std::move(labels);
        if (families_.back().type == prometheus::MetricType::Counter) {
            metric.counter.value = static_cast<double>(value);
        } else {
            metric.gauge.value = static_cast<double>(value);
        }
        families_.back().metric.push_back(std::move(metric));
    }

    std::string text() const {
        std::ostringstream out;
        prometheus::TextSerializer().Serialize(out, families_);
        return std::move(out).str();
    }

private:
    void begin(std::string name, std::string help, prometheus::MetricType type) {
        families_.push_back({std::move(name), std::move(help), type, {}});
    }

    std::vector<prometheus::MetricFamily> families_;
};

}  // namespace doorbuster
