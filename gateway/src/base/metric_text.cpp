#include "base/metric_text.hpp"

#include "core/utf8.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace telegate {
namespace {

void append_metric_text(std::string& out, std::string_view text) {
    std::string valid(3 * text.size(), '\0');
    valid.resize(static_cast<std::size_t>(put_utf8(valid.data(), text) - valid.data()));
    for (const char c : valid) {
        switch (c) {
            case '\\': out += "\\\\"; break;
            case '"': out += "\\\""; break;
            case '\n': out += "\\n"; break;
            default: out += c; break;
        }
    }
}

void append_head(std::string& out, const MetricName& metric, MetricFormat format) {
    const bool open = format == MetricFormat::open_metrics;
    const std::string name = open ? std::string(metric.name) : metric.of_samples();
    // The older format has no infos.
    const MetricType type = !open && metric.type == MetricType::info ? MetricType::gauge : metric.type;
    out += "# TYPE " + name + ' ' + std::string(to_string(type)) + '\n';
    if (open && !metric.unit().empty()) {
        out += "# UNIT " + name + ' ' + std::string(metric.unit()) + '\n';
    }
    out += "# HELP " + name + ' ' + std::string(metric.help) + '\n';
}

}  // namespace

std::string_view to_string(MetricType type) noexcept {
    switch (type) {
        case MetricType::counter: return "counter";
        case MetricType::gauge: return "gauge";
        case MetricType::info: return "info";
        case MetricType::summary: return "summary";
    }
    return "";
}

std::string MetricName::of_samples() const {
    const char* const ending = type == MetricType::counter ? "_total" : type == MetricType::info ? "_info" : "";
    return std::string(name) + ending;
}

std::string_view MetricName::unit() const noexcept {
    const std::string_view last = name.substr(name.rfind('_') + 1);
    return last == "seconds" || last == "bytes" ? last : "";
}

MetricFamily& MetricText::family(const MetricName& metric, const MetricLabels& labels) {
    for (std::size_t i = 0; i < families_.size(); ++i, ++last_) {
        last_ = last_ < families_.size() ? last_ : 0;
        if (families_[last_].metric.name == metric.name) {
            return families_[last_];
        }
    }
    std::string names;
    for (const MetricLabel& label : labels) {
        names.append(names.empty() ? "" : ", ").append(label.name);
    }
    last_ = families_.size();
    return families_.emplace_back(MetricFamily{metric, std::move(names), {}});
}

void MetricText::add_line(const MetricName& metric, const MetricLabels& labels, std::string_view value) {
    std::string& text = family(metric, labels).samples;
    text += metric.of_samples();
    char before = '{';
    for (const MetricLabel& label : labels) {
        text += before;
        text += label.name;
        text += "=\"";
        append_metric_text(text, label.value);
        text += '"';
        before = ',';
    }
    text += !labels.empty() ? "} " : " ";
    text += value;
    text += '\n';
}

std::string MetricText::number_text(double value) {
    if (!std::isfinite(value)) {
        return std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    }
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string MetricText::text(MetricFormat format) const {
    std::string text;
    for (const MetricFamily& each : families_) {
        if (!each.samples.empty()) {
            append_head(text, each.metric, format);
            text += each.samples;
        }
    }
    if (format == MetricFormat::open_metrics) {
        text += "# EOF\n";
    }
    return text;
}

}  // namespace telegate
