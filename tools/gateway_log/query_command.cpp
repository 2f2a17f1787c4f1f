#include "commands.hpp"
#include "gateway_tail/time_words.hpp"
#include "store/log_reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>

namespace telegate::log_tool {
namespace {

constexpr std::size_t intervals_max = 1'000'000;

/// The numbers of one interval.
struct Interval {
    std::uint64_t count = 0;
    double min = 0;
    double max = 0;
    double mean = 0;

    void add(double number) noexcept {
        min = count == 0 ? number : std::min(min, number);
        max = count == 0 ? number : std::max(max, number);
        ++count;
        mean += (number - mean) / static_cast<double>(count);
    }
};

/// By start; the clock may have been set back, so times are not in order.
using Intervals = std::map<std::int64_t, Interval>;

std::optional<double> number_of(const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::real: return std::isfinite(sample.value.real) ? std::optional(sample.value.real) : std::nullopt;
        case ValueType::integer: return static_cast<double>(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? 1.0 : 0.0;
        case ValueType::text:
        case ValueType::none: break;
    }
    return std::nullopt;
}

/// Returns the multiple of `length` at or before `time`.
std::int64_t start_of(std::int64_t time, std::int64_t length) noexcept {
    constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
    const std::int64_t into = (time % length + length) % length;
    return time < first + into ? first : time - into;
}

std::string number_text(double number) {
    std::array<char, 32> digits;
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

void append_cell(std::string& out, const std::string& text, std::size_t width) {
    out.append(2 + width - std::min(width, text.size()), ' ').append(text);
}

void append_text(std::string& out, std::int64_t start_ns, const Interval& interval) {
    constexpr std::size_t count_width = 10;
    constexpr std::size_t number_width = 22;
    out += time_text(start_ns, short_decimals);
    append_cell(out, std::to_string(interval.count), count_width);
    for (const double number : {interval.min, interval.max, interval.mean}) {
        append_cell(out, number_text(number), number_width);
    }
    out += '\n';
}

void print(const Intervals& intervals, const LogOptions& options, std::ostream& stream) {
    OutputBuffer out(write_to(stream));
    if (!options.json) {
        out.text() +=
            "TIME                           COUNT                     MIN                     MAX"
            "                    MEAN\n";
    }
    for (const auto& [start_ns, interval] : intervals) {
        if (options.json) {
            const nlohmann::ordered_json json = {{"time", time_text(start_ns, all_decimals)},
                                                 {"count", interval.count},
                                                 {"min", interval.min},
                                                 {"max", interval.max},
                                                 {"mean", interval.mean}};
            out.text() += json.dump() + '\n';
        } else {
            append_text(out.text(), start_ns, interval);
        }
        out.added();
    }
    out.flush();
}

}  // namespace

int query(const LogOptions& options, const Surroundings& surroundings) {
    Intervals intervals;
    std::uint64_t samples = 0;
    std::uint64_t without_number = 0;
    store::LogReader reader(surroundings.files, options.directory);
    const auto each = [&](std::int64_t, const store::SegmentChannel&, std::span<TelemetrySample> part) {
        for (const TelemetrySample& sample : part) {
            const auto number = number_of(sample);
            ++(number ? samples : without_number);
            if (number) {
                intervals[start_of(sample.time_utc_ns, options.interval.count())].add(*number);
            }
        }
        if (intervals.size() > intervals_max) {
            throw Failure(exit_code::usage, "too many intervals: must be at most " + tail::grouped(intervals_max) +
                                                "; choose a longer --interval or a shorter time range");
        }
        return true;
    };
    reader.read_channel(options.channel, options.times.since_ns, options.times.until_ns, each);
    if (without_number > 0) {
        surroundings.errors << "gateway_log: " << tail::counted(without_number, "sample")
                            << " without a number ignored\n";
    }
    if (samples == 0) {
        throw Failure(exit_code::not_ok, "no number found in the log for channel \"" + options.channel +
                                             "\": must be a whole topic, such as host/cpu.user, with samples in the "
                                             "time range");
    }
    print(intervals, options, surroundings.out);
    return exit_code::ok;
}

}  // namespace telegate::log_tool
