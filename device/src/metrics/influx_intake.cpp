#include "metrics/given_time.hpp"
#include "metrics/line_intake.hpp"

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

bool InfluxIntake::take(std::string_view line, const LineTarget& target) {
    if (line.starts_with('#')) {
        return true;
    }
    if (!read_influx_line(line, line_)) {
        return target.refuse(line_.fault, line);
    }
    std::optional<std::int64_t> given;
    if (line_.time) {
        given = to_utc_ns(*line_.time, target.rules.time_precision);
        if (!given && target.rules.use_time) {
            return target.refuse(time_fault, line);
        }
    }
    if (!target.stamp(given)) {
        return target.refuse(time_fault, line);
    }
    make_stem();
    const MetricName::Mark stem = name_.mark();
    std::string_view fields = line_.fields;
    while (const auto field = next_influx_field(fields)) {
        name_.begin_part();
        add_unescaped(name_, field->key);
        if (const Metric* const metric = target.sink.find_or_add(target.batch, name_, "")) {
            give(*field, metric->channel, target.batch);
        }
        name_.return_to(stem);
    }
    return true;
}

void InfluxIntake::give(const InfluxField& field, SampleBatch::Channel channel, SampleBatch& batch) {
    if (const auto* const text = std::get_if<InfluxText>(&field.value)) {
        std::array<char, text_value_bytes> room;
        return batch.add(channel, put_text(text->raw, room));
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&field.value)) {
        return batch.add(channel, *whole);
    }
    if (const auto* const flag = std::get_if<bool>(&field.value)) {
        return batch.add(channel, *flag);
    }
    batch.add(channel, std::get<double>(field.value));
}

}  // namespace telegate::metrics
