#include "metrics/given_time.hpp"
#include "metrics/line_intake.hpp"

#include <array>
#include <charconv>

namespace telegate::metrics {
namespace {

/// Longer than any useful ISO 8601 time.
constexpr std::size_t time_room = 64;

/// The identity contains no control characters, which separate its parts: a backslash and the character in column 4 of
/// ASCII replace them. It does not depend on how the writer has escaped the text.
void add_raw(MetricName& name, std::string_view raw) noexcept {
    std::array<char, MetricName::bytes_max + 1> room;
    const std::string_view text = put_json_text(raw, room).text;
    name.add_shown(text);
    name.begin_hidden();
    for (const char c : text) {
        const bool is_control = static_cast<unsigned char>(c) < 0x20;
        if (is_control || c == '\\') {
            name.add_to_identity('\\');
        }
        name.add_to_identity(is_control ? static_cast<char>(c + '@') : c);
    }
}

std::optional<std::int64_t> time_of(const JsonScan& scan, JsonEvent event, TimePrecision precision) noexcept {
    if (event == JsonEvent::whole) {
        return to_utc_ns(scan.whole(), precision);
    }
    if (event == JsonEvent::real) {
        return to_utc_ns(scan.real(), precision);
    }
    if (event == JsonEvent::text) {
        std::array<char, time_room> room;
        return parse_iso_time(put_json_text(scan.raw(), room).text);
    }
    return std::nullopt;
}

}  // namespace

void JsonIntake::begin_line() noexcept {
    name_.clear();
    depth_ = 0;
    member_ = {};
    if (!name_raw_.empty()) {
        name_.begin_part();
        add_raw(name_, name_raw_);
    }
}

/// Returns the next event. If it is a value or begins one, sets the name of that value.
JsonEvent JsonIntake::step(JsonScan& scan) noexcept {
    const JsonEvent event = repeats_.next(scan);
    if (event == JsonEvent::end_object || event == JsonEvent::end_array) {
        --depth_;
    } else if (event == JsonEvent::key) {
        if (depth_ == 1) {
            member_ = scan.raw();
        }
        name_.return_to(levels_[depth_ - 1].mark);
        name_.begin_part();
        add_raw(name_, scan.raw());
    } else if (begins(event) || is_value(event)) {
        begin_element(event);
    }
    return event;
}

/// Array elements are named by their index, from 0.
void JsonIntake::begin_element(JsonEvent event) noexcept {
    if (depth_ > 0 && levels_[depth_ - 1].is_array) {
        Level& array = levels_[depth_ - 1];
        std::array<char, 10> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), array.index++).ptr;
        name_.return_to(array.mark);
        name_.add_part({digits.data(), static_cast<std::size_t>(end - digits.data())});
    }
    if (begins(event)) {
        levels_[depth_++] = {name_.mark(), event == JsonEvent::begin_array, 0};
    }
}

/// Checks whether the line is valid, and finds its time and name.
bool JsonIntake::check_line(std::string_view line, const LineTarget& target) {
    name_raw_ = {};
    given_ns_.reset();
    fault_ = "not a JSON object or array, or nested too deeply";
    if (!repeats_.find(line)) {
        return false;
    }
    JsonScan scan(line);
    begin_line();
    for (JsonEvent event = step(scan); event != JsonEvent::end; event = step(scan)) {
        if (is_value(event) && depth_ == 0) {
            return false;
        }
        if (is_value(event) && depth_ == 1 && !record_member(scan, event, target)) {
            return false;
        }
    }
    return true;
}

bool JsonIntake::record_member(const JsonScan& scan, JsonEvent event, const LineTarget& target) {
    const MetricRules& rules = target.rules;
    if (levels_[depth_ - 1].is_array) {
        return true;
    }
    if (!rules.name_member.empty() && member_ == rules.name_member) {
        name_raw_ = scan.raw();
        fault_ = "name_member is not a text";
        return event == JsonEvent::text && !name_raw_.empty();
    }
    if (rules.use_time && !rules.time_member.empty() && member_ == rules.time_member) {
        given_ns_ = time_of(scan, event, rules.time_precision);
        fault_ = "time_member is not a time: must be a number, or ISO 8601 with an offset or Z";
        return given_ns_.has_value();
    }
    return true;
}

bool JsonIntake::add_line(std::string_view line, const LineTarget& target) {
    if (!check_line(line, target)) {
        return target.refuse(fault_, line);
    }
    if (!target.stamp(given_ns_)) {
        return target.refuse(time_fault, line);
    }
    JsonScan scan(line);
    begin_line();
    for (JsonEvent event = step(scan); event != JsonEvent::end; event = step(scan)) {
        if (is_value(event)) {
            add_sample(scan, event, target);
        }
    }
    return true;
}

void JsonIntake::add_sample(const JsonScan& scan, JsonEvent event, const LineTarget& target) {
    if (!is_series(target.rules)) {
        return;
    }
    if (target.sink.is_new(name_.series())) {
        JsonIntake(*this).announce(scan, target);
    }
    const Metric* const metric = target.sink.find_or_add(target.batch, name_.series(), "");
    if (metric != nullptr) {
        add_value(target.batch, metric->channel, scan, event);
    }
}

/// Returns whether the current value is not the name or time of the line.
bool JsonIntake::is_series(const MetricRules& rules) const noexcept {
    return depth_ != 1 || levels_[depth_ - 1].is_array || member_.empty() ||
           (member_ != rules.name_member && member_ != rules.time_member);
}

/// Announces the values from the current one to the end of a valid line.
void JsonIntake::announce(JsonScan scan, const LineTarget& target) {
    target.sink.announce(name_.series());
    for (JsonEvent event = step(scan); event != JsonEvent::end; event = step(scan)) {
        if (is_value(event) && is_series(target.rules)) {
            target.sink.announce(name_.series());
        }
    }
}

void add_value(SampleBatch& batch, SampleBatch::Channel channel, const JsonScan& scan, JsonEvent event) {
    switch (event) {
        case JsonEvent::text: {
            std::array<char, text_value_bytes> room;
            return batch.add(channel, put_json_text(scan.raw(), room).text);
        }
        case JsonEvent::whole: return batch.add(channel, scan.whole());
        case JsonEvent::real:
            return batch.add(channel, scan.real(), scan.is_rounded() ? Quality::uncertain : Quality::good);
        case JsonEvent::flag: return batch.add(channel, scan.flag());
        default: return batch.add_absent(channel);
    }
}

}  // namespace telegate::metrics
