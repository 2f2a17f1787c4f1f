#include "metrics/metric_text.hpp"

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

void MetricText::begin(const MetricName& metric) noexcept {
    metric_ = metric;
    has_head_ = false;
}

void MetricText::add_head() {
    const bool open = format_ == MetricFormat::open_metrics;
    const std::string name = open ? std::string(metric_.name) : metric_.of_samples();
    // The older format has no infos.
    const MetricType type = !open && metric_.type == MetricType::info ? MetricType::gauge : metric_.type;
    text_ += "# TYPE " + name + ' ' + std::string(to_string(type)) + '\n';
    if (open && !metric_.unit().empty()) {
        text_ += "# UNIT " + name + ' ' + std::string(metric_.unit()) + '\n';
    }
    text_ += "# HELP " + name + ' ' + std::string(metric_.help) + '\n';
    has_head_ = true;
}

void MetricText::add_line(std::span<const MetricLabel> labels, std::string_view value) {
    if (!has_head_) {
        add_head();
    }
    text_ += metric_.of_samples();
    char before = '{';
    for (const MetricLabel& label : labels) {
        text_ += before;
        text_ += label.name;
        text_ += "=\"";
        append_metric_text(text_, label.value);
        text_ += '"';
        before = ',';
    }
    text_ += !labels.empty() ? "} " : " ";
    text_ += value;
    text_ += '\n';
}

void MetricText::add(std::initializer_list<MetricLabel> labels, double value) {
    if (!std::isfinite(value)) {
        return add_line({labels.begin(), labels.size()}, std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    }
    std::array<char, 32> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    add_line({labels.begin(), labels.size()}, {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

std::string MetricText::finish() && {
    if (format_ == MetricFormat::open_metrics) {
        text_ += "# EOF\n";
    }
    return std::move(text_);
}

}  // namespace telegate
