#include "commands.hpp"
#include "gateway_tail/time_words.hpp"
#include "store/interval_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace telegate::log_tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t intervals_max = 1'000'000;

std::string number_text(double number) {
    std::array<char, 32> digits;
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

void append_cell(std::string& out, const std::string& text, std::size_t width) {
    out.append(2 + width - std::min(width, text.size()), ' ').append(text);
}

void append_text(std::string& out, std::int64_t start_ns, const store::Interval& interval) {
    constexpr std::size_t count_width = 10;
    constexpr std::size_t number_width = 22;
    out += time_text(start_ns, short_decimals);
    append_cell(out, std::to_string(interval.count), count_width);
    for (const double number : {interval.min, interval.max, interval.mean}) {
        append_cell(out, interval.numbers > 0 ? number_text(number) : "-", number_width);
    }
    append_cell(out, std::to_string(interval.missing), count_width);
    out += '\n';
}

Json to_json(std::int64_t start_ns, const store::Interval& interval) {
    const auto number = [&](double of_numbers) {
        return interval.numbers > 0 ? Json(of_numbers) : Json(nullptr);
    };
    return {{"time", time_text(start_ns, all_decimals)},
            {"count", interval.count},
            {"min", number(interval.min)},
            {"max", number(interval.max)},
            {"mean", number(interval.mean)},
            {"missing", interval.missing},
            {"not_good", interval.not_good}};
}

void print(const store::IntervalTable::Intervals& intervals, const LogOptions& options, std::ostream& stream) {
    OutputBuffer out(write_to(stream));
    if (!options.json) {
        out.text() +=
            "TIME                           COUNT                     MIN                     MAX"
            "                    MEAN     MISSING\n";
    }
    for (const auto& [start_ns, interval] : intervals) {
        if (options.json) {
            out.text() += to_json(start_ns, interval).dump() + '\n';
        } else {
            append_text(out.text(), start_ns, interval);
        }
        out.added();
    }
    out.flush();
}

}  // namespace

int query(const LogOptions& options, const Surroundings& surroundings) {
    store::IntervalTable table(options.interval, intervals_max);
    store::LogReader reader = open_log(options.directory, surroundings);
    reader.select({options.channel, options.times.since_ns, options.times.until_ns});
    reader.seek_time(options.times.since_ns);
    store::LogBatch batch;
    while (reader.next(batch)) {
        if (!table.add(batch.samples, batch.gaps)) {
            throw Failure(exit_code::usage, "too many intervals: must be at most " + tail::grouped(intervals_max) +
                                                "; choose a longer --interval or a shorter time range");
        }
    }
    if (table.intervals().empty()) {
        throw Failure(exit_code::not_ok, "no sample found in the log for channel \"" + options.channel +
                                             "\": must be a whole topic, such as host/cpu.user, with samples in the "
                                             "time range");
    }
    print(table.intervals(), options, surroundings.out);
    return exit_code::ok;
}

}  // namespace telegate::log_tool
