#include "host/temperature_source.hpp"

#include "core/text.hpp"
#include "core/topic.hpp"
#include "host/directory_names.hpp"
#include "host/text_scan.hpp"

#include <span>

namespace telegate::host {
namespace {

// Together with "temp." and the dot between them, they fit in a topic part.
constexpr std::size_t chip_bytes_max = 24;
constexpr std::size_t label_bytes_max = 32;

constexpr std::string_view input_suffix = "_input";

std::string read_text(const std::string& path, std::span<char> buffer) {
    return std::string(trimmed(ProcFile(path).read(buffer).value_or(""), blanks));
}

}  // namespace

TemperatureSource::TemperatureSource(const std::string& sys_root)
    : hwmon_path_(sys_root + "/class/hwmon/"), thermal_path_(sys_root + "/class/thermal/") {}

void TemperatureSource::open(const Tick& tick) {
    sensors_.clear();
    names_ = {};
    left_out_ = 0;
    find_chips(tick);
    find_zones(tick);
    if (left_out_ > 0) {
        left_out_channel_ = tick.batch.add_channel("temp.left_out", "1");
    }
}

void TemperatureSource::read(const Tick& tick) {
    for (Sensor& sensor : sensors_) {
        const std::string_view text = trimmed(sensor.file.read(tick.buffer).value_or(""), blanks);
        if (const auto millidegrees = parse_number<std::int64_t>(text)) {
            tick.batch.add(sensor.channel, static_cast<double>(*millidegrees) / 1000.0);
        }
    }
    tick.batch.add(left_out_channel_, left_out_);
}

void TemperatureSource::find_chips(const Tick& tick) {
    FreeNames chips;
    for (const std::string& directory : names_in(hwmon_path_, "hwmon", "")) {
        const std::string stem = hwmon_path_ + directory + '/';
        const std::vector<std::string> inputs = names_in(stem, "temp", input_suffix);
        if (inputs.empty()) {
            continue;
        }
        const std::string name = read_text(stem + "name", tick.buffer);
        const std::string chip = chips.claim("", name.empty() ? directory : name, chip_bytes_max);
        for (const std::string& input : inputs) {
            const std::string sensor = input.substr(0, input.size() - input_suffix.size());
            const std::string label = read_text(stem + sensor + "_label", tick.buffer);
            add_sensor(tick, stem + input, chip, label.empty() ? sensor : label);
        }
    }
}

void TemperatureSource::find_zones(const Tick& tick) {
    constexpr std::string_view prefix = "thermal_zone";
    for (const std::string& directory : names_in(thermal_path_, prefix, "")) {
        const std::string stem = thermal_path_ + directory + '/';
        const std::string type = read_text(stem + "type", tick.buffer);
        const std::string zone = "zone" + directory.substr(prefix.size());
        add_sensor(tick, stem + "temp", to_topic_part(type.substr(0, chip_bytes_max)), zone);
    }
}

void TemperatureSource::add_sensor(const Tick& tick, const std::string& path, const std::string& chip,
                                   const std::string& label) {
    if (sensors_.size() == sensors_max) {
        ++left_out_;
        return;
    }
    const std::string name = names_.claim("temp." + chip + '.', label, label_bytes_max);
    sensors_.push_back(Sensor{ProcFile(path), tick.batch.add_channel(name, "Cel")});
}

}  // namespace telegate::host
