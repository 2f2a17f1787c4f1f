#include "metrics/given_time.hpp"
#include "metrics/line_intake.hpp"

#include <algorithm>
#include <array>

namespace telegate::metrics {
namespace {

void add_unescaped(MetricName& name, std::string_view raw) noexcept {
    while (!raw.empty()) {
        name.add(next_influx_character(raw));
    }
}

std::string_view put_text(std::string_view raw, std::array<char, text_value_bytes>& room) noexcept {
    std::size_t size = 0;
    while (!raw.empty() && size < room.size()) {
        room[size++] = next_influx_text_character(raw);
    }
    return {room.data(), size};
}

}  // namespace

void InfluxIntake::make_stem() noexcept {
    name_.clear();
    name_.begin_part();
    add_unescaped(name_, line_.measurement);
    for (std::size_t tag = 0; tag < line_.tag_count; ++tag) {
        name_.begin_part();
        add_unescaped(name_, line_.tags[tag].value);
        name_.add_hidden(line_.tags[tag].key);
    }
}

bool InfluxIntake::add_line(std::string_view line, const LineTarget& target) {
    if (line.substr(std::min(line.find_first_not_of(" \t"), line.size())).starts_with('#')) {
        return true;
    }
    if (!read_influx_line(line, line_)) {
        return target.refuse(line_.fault, line);
    }
    std::optional<std::int64_t> given;
    if (line_.time) {
        given = to_utc_ns(*line_.time, target.rules.time_precision);
    }
    const bool is_beyond = line_.is_time_beyond || (line_.time && !given);
    if ((is_beyond && target.rules.use_time) || !target.stamp(given)) {
        return target.refuse(time_fault, line);
    }
    make_stem();
    const MetricName::Mark stem = name_.mark();
    std::string_view fields = line_.fields;
    while (const auto field = next_influx_field(fields)) {
        if (target.sink.is_new(name_of(*field, stem))) {
            announce(fields, stem, target.sink);
        }
        if (const Metric* const metric = target.sink.find_or_add(target.batch, name_of(*field, stem), "")) {
            add_sample(*field, metric->channel, target.batch);
        }
    }
    return true;
}

SeriesName InfluxIntake::name_of(const InfluxField& field, const MetricName::Mark& stem) noexcept {
    name_.return_to(stem);
    name_.begin_part();
    add_unescaped(name_, field.key);
    return name_.series();
}

/// Announces the remaining fields of a line.
void InfluxIntake::announce(std::string_view fields, const MetricName::Mark& stem, MetricSink& sink) {
    while (const auto field = next_influx_field(fields)) {
        sink.announce(name_of(*field, stem));
    }
}

void InfluxIntake::add_sample(const InfluxField& field, SampleBatch::Channel channel, SampleBatch& batch) {
    if (const auto* const text = std::get_if<InfluxText>(&field.value)) {
        std::array<char, text_value_bytes> room;
        return batch.add(channel, put_text(text->raw, room));
    }
    if (const auto* const flag = std::get_if<bool>(&field.value)) {
        return batch.add(channel, *flag);
    }
    const auto& number = std::get<TextNumber>(field.value);
    if (number.kind == TextNumber::Kind::whole) {
        return batch.add(channel, number.whole);
    }
    batch.add(channel, number.as_real(), number.real_quality());
}

}  // namespace telegate::metrics
