#include "metrics/given_time.hpp"
#include "metrics/line_intake.hpp"

#include <cmath>

namespace telegate::metrics {
namespace {

std::string_view kind_mark(StatsdKind kind) noexcept {
    switch (kind) {
        case StatsdKind::counter: return "c";
        case StatsdKind::gauge: return "g";
        case StatsdKind::timing: return "ms";
        case StatsdKind::distribution: return "h";
    }
    return "";
}

Quality quality_of(const Metric& metric) noexcept {
    return metric.is_rounded ? Quality::uncertain : Quality::good;
}

/// Returns false, and leaves the total unchanged, if `more` or the new total is not a number.
bool add_total(Metric& metric, double more) noexcept {
    constexpr double exact_max = 0x1p53;  // smaller whole doubles are exact
    const bool is_whole = std::abs(more) <= exact_max && more == std::trunc(more);
    if (!metric.has_fraction) {
        std::int64_t sum = 0;
        if (is_whole && !__builtin_add_overflow(metric.whole, static_cast<std::int64_t>(more), &sum)) {
            metric.whole = sum;
            return true;
        }
    }
    const double sum = (metric.has_fraction ? metric.real : static_cast<double>(metric.whole)) + more;
    if (!std::isfinite(sum)) {
        return false;
    }
    metric.has_fraction = true;
    metric.real = sum;
    return true;
}

void add_sample(const Metric& metric, SampleBatch& batch) {
    if (metric.has_fraction) {
        batch.add(metric.channel, metric.real, quality_of(metric));
    } else {
        batch.add(metric.channel, metric.whole, quality_of(metric));
    }
}

void add_tag(MetricName& name, std::string_view tag) noexcept {
    const std::size_t colon = tag.find(':');
    name.add_part(tag.substr(0, colon));
    if (colon != std::string_view::npos && colon + 1 < tag.size()) {
        name.add('_');
        name.add(tag.substr(colon + 1));
    }
    name.add_hidden(tag);
}

}  // namespace

bool LineTarget::stamp(std::optional<std::int64_t> given_utc_ns) const noexcept {
    if (!rules.use_time || !given_utc_ns) {
        batch.stamp(arrival.utc_ns, arrival.mono_ns);
        return true;
    }
    if (!is_likely_time(*given_utc_ns, arrival.utc_ns)) {
        return false;
    }
    batch.stamp_given({*given_utc_ns, arrival.mono_ns}, arrival.mono_ns);
    return true;
}

void StatsdIntake::make_name() noexcept {
    name_.clear();
    name_.add_part(line_.name);
    for (std::size_t tag = 0; tag < line_.tag_count; ++tag) {
        add_tag(name_, line_.tags[tag]);
    }
    name_.add_hidden(kind_mark(line_.kind));
}

bool StatsdIntake::add_line(std::string_view line, const LineTarget& target) {
    if (!read_statsd_line(line, line_)) {
        return target.refuse(line_.fault, line);
    }
    make_name();
    std::optional<std::int64_t> given;
    if (line_.time_s) {
        given = to_utc_ns(*line_.time_s, TimePrecision::s);
    }
    const bool is_beyond = line_.time_s && !given;
    if ((is_beyond && target.rules.use_time) || !target.stamp(given)) {
        return target.refuse(time_fault, line);
    }
    Metric* const metric =
        target.sink.find_or_add(target.batch, name_.series(), line_.kind == StatsdKind::timing ? "ms" : "");
    if (metric == nullptr) {
        return true;  // a valid line whose metric was dropped
    }
    if (line_.kind == StatsdKind::counter) {
        count(*metric, target, given && target.rules.use_time);
    } else {
        measure(*metric, line_.values, line_.kind == StatsdKind::gauge, target.batch);
    }
    return true;
}

/// With a given time, the total has a sample of its own for each line.
void StatsdIntake::count(Metric& metric, const LineTarget& target, bool is_time_given) {
    std::string_view values = line_.values;
    bool has_changed = false;
    while (!values.empty()) {
        const StatsdValue value = next_statsd_value(values).value_or(StatsdValue{});
        if (!add_total(metric, value.number / line_.rate)) {
            target.batch.add_absent(metric.channel);
            continue;
        }
        metric.is_rounded = metric.is_rounded || value.quality == Quality::uncertain;
        has_changed = true;
    }
    if (is_time_given && has_changed) {
        add_sample(metric, target.batch);
    }
    if (is_time_given || !has_changed) {
        return;
    }
    metric.when = target.arrival;
    if (!metric.is_waiting) {
        metric.is_waiting = true;
        waiting_.push_back(&metric);
    }
}

void StatsdIntake::measure(Metric& metric, std::string_view values, bool is_gauge, SampleBatch& batch) {
    while (!values.empty()) {
        const auto value = next_statsd_value(values);
        if (!value) {
            return;
        }
        const bool is_change = is_gauge && value->has_sign;
        const double now = is_change ? metric.real + value->number : value->number;
        if (!std::isfinite(now)) {
            batch.add_absent(metric.channel);
            continue;
        }
        metric.is_rounded = value->quality == Quality::uncertain || (is_change && metric.is_rounded);
        metric.real = now;
        batch.add(metric.channel, now, quality_of(metric));
    }
}

void StatsdIntake::finish(SampleBatch& batch) {
    for (Metric* const metric : waiting_) {
        metric->is_waiting = false;
        batch.stamp(metric->when.utc_ns, metric->when.mono_ns);
        add_sample(*metric, batch);
    }
    waiting_.clear();
}

}  // namespace telegate::metrics
