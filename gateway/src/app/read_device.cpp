#include "app/command_line.hpp"

#include "app/device_reading.hpp"
#include "base/exit_code.hpp"
#include "base/json_object.hpp"
#include "base/readable_bytes.hpp"
#include "config/joined.hpp"
#include "config/nearest_name.hpp"
#include "config/quantity.hpp"
#include "core/utf8.hpp"
#include "encode/time_text.hpp"
#include "plan/channel_sections.hpp"
#include "plan/plan.hpp"
#include "status/status_parts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace telegate {
namespace {

std::string cell_text(const TelemetrySample& sample) {
    switch (sample.type) {
        case ValueType::none: return "-";
        case ValueType::real: return number_text(sample.value.real);
        case ValueType::integer: return std::to_string(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? "true" : "false";
        case ValueType::text: return to_readable(sample.text());
    }
    return "";
}

using TableRow = std::array<std::string, 4>;

/// Aligns the rows in columns, without trailing spaces.
std::string columns_text(const std::vector<TableRow>& rows) {
    std::array<std::size_t, std::tuple_size_v<TableRow>> widths{};
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], count_characters(row[i]));
        }
    }
    std::string text;
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_last = i + 1 == row.size();
            text += row[i] + (is_last ? "\n" : std::string(widths[i] - count_characters(row[i]) + 2, ' '));
        }
    }
    return text;
}

/// The device, the number of the reading, and the total number of readings.
struct ReadingTitle {
    std::string_view device;
    std::uint64_t number;
    std::uint64_t count;
};

std::string reading_text(const ReadingTitle& title, const DeviceReading& reading) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(reading.took).count();
    std::string text = "device " + std::string(title.device) + ", reading " + std::to_string(title.number) + " of " +
                       std::to_string(title.count) + ", " + to_iso8601(reading.time_utc_ns) + ", took " +
                       std::to_string(ms) + " ms\n";
    std::vector<TableRow> rows{{"CHANNEL", "VALUE", "UNIT", "QUALITY"}};
    for (const DeviceReading::Value& value : reading.values) {
        const std::string many = value.samples > 1 ? ", the last of " + std::to_string(value.samples) : "";
        rows.push_back({value.channel->channel, cell_text(value.last), value.channel->unit,
                        std::string(to_string(value.last.quality)) + many});
    }
    text += reading.values.empty() ? "no samples\n" : columns_text(rows);
    if (!reading.what.empty()) {
        text += (reading.has_failed ? "failed: " : "partial: ") + to_readable(reading.what) + '\n';
    }
    return text;
}

std::string reading_json(const ReadingTitle& title, const DeviceReading& reading) {
    using Value = DeviceReading::Value;
    return json_object_text([&](JsonObject& out) {
               out.add("device", title.device);
               out.add("reading", title.number);
               out.add("time", to_iso8601(reading.time_utc_ns));
               out.add("took_s", to_seconds(reading.took));
               out.add("failed", reading.has_failed);
               out.add("error", text_or_null(to_readable(reading.what)));
               out.map(
                   {"channels", ""}, reading.values, [](const Value& value) { return value.channel->channel; },
                   [](JsonObject& channel, const Value& value) {
                       list_channel(channel, {value.channel->topic, value.channel->unit, value.last});
                       channel.add("samples", value.samples);
                   });
           }) +
           '\n';
}

std::string no_such_device(const Settings& settings, const std::string& name) {
    std::vector<std::string_view> names;
    names.reserve(settings.devices.size());
    for (const DeviceSettings& device : settings.devices) {
        names.emplace_back(device.name);
    }
    const std::string_view near = nearest_name(name, names);
    const std::string advice = near.empty() ? "; configured devices: " + (names.empty() ? "none" : joined(names))
                                            : "; did you mean \"" + std::string(near) + "\"?";
    return "gateway_app: --read: unknown device \"" + name + '"' + advice + '\n';
}

/// Returns warnings for channel sections of the device that matched no channel of any reading.
std::string unclaimed_text(const Settings& settings, const std::string& device, const ChannelTable& channels) {
    std::vector<std::string> names;
    names.reserve(channels.size());
    for (std::size_t index = 0; index < channels.size(); ++index) {
        names.push_back(channels.at(static_cast<ChannelId>(index)).channel);
    }
    std::string text;
    for (const ChannelSettings* const section : channels_of(settings, device)) {
        if (!channels.find(section->name)) {
            text += "warning: " +
                    section_problem(*section, "no reading contained a channel with this name" +
                                                  channel_advice(section->channel(), names))
                        .text() +
                    '\n';
        }
    }
    return text;
}

}  // namespace

int read_device(const CommandLine& command_line, std::ostream& out, std::ostream& errors) {
    LoadedPlan loaded = load_plan(command_line.sources);
    for (const std::string& warning : loaded.warnings) {
        errors << "warning: " << warning << '\n';
    }
    const auto planned =
        std::find_if(loaded.plan.devices.begin(), loaded.plan.devices.end(),
                     [&](const PlannedDevice& each) { return each.options.name == command_line.read.device; });
    if (planned == loaded.plan.devices.end()) {
        errors << no_such_device(loaded.settings, command_line.read.device);
        return exit_code::usage;
    }
    DeviceReader reader(std::move(*planned));
    int code = exit_code::ok;
    bool has_samples = false;
    for (std::uint64_t number = 1; number <= command_line.read.count; ++number) {
        const DeviceReading reading = reader.read();
        code = reading.has_failed ? exit_code::unavailable : code;
        has_samples = has_samples || !reading.values.empty();
        const ReadingTitle title{command_line.read.device, number, command_line.read.count};
        const std::string text =
            command_line.format == "json" ? reading_json(title, reading) : reading_text(title, reading);
        if (const int written = write_out(out, errors, text, exit_code::ok); written != exit_code::ok) {
            return written;
        }
    }
    if (code == exit_code::ok && !has_samples) {
        errors << "warning: device \"" << command_line.read.device
               << "\" sent no samples; if it sends rarely, read longer with --count\n";
    }
    if (code == exit_code::ok) {  // a device that fails may lack channels only because of that
        errors << unclaimed_text(loaded.settings, command_line.read.device, reader.channels());
    }
    return code;
}

}  // namespace telegate
