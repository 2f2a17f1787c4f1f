#include "config/enum_names.hpp"
#include "device/driver_row.hpp"
#include "replay/replay_driver.hpp"

#include <array>
#include <string>
#include <utility>

namespace telegate {
namespace replay_driver {
namespace {

/// The settings of a device with the driver replay.
struct ReplaySettings {
    std::string path;
    double speed = 1.0;
    std::string mode = "timed";
    bool loop = false;
    std::string source;  // "": all logged devices
    std::string use_time = "now";
};

using R = ReplaySettings;

constexpr auto modes = enum_names<ReplayMode>({{"timed", ReplayMode::timed}, {"stepped", ReplayMode::stepped}});
constexpr auto times = enum_names<ReplayTime>({{"now", ReplayTime::now}, {"recorded", ReplayTime::recorded}});
constexpr TextRule path_rule{.holds = Holds::path, .prefixes = {}, .allowed = "the directory of a log"};
constexpr TextRule source_rule{
    .holds = Holds::plain, .prefixes = {}, .allowed = "the name of a logged device, or empty", .may_be_empty = true};
constexpr RealRule speed_rule{.min = 0.001, .max = 1'000.0};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "path", .rule = path_rule, .applies = Applies::file,
               .required = true,
               .meaning = "Directory of the durable log to play.", .slot = driver_slot<&R::path>},
    SettingRow{.section = "device", .key = "mode", .rule = ChoiceRule{modes.names},
               .applies = Applies::live,
               .meaning = "Whether the logged intervals are kept, or each reading plays one logged moment.",
               .slot = driver_slot<&R::mode>},
    SettingRow{.section = "device", .key = "speed", .rule = speed_rule, .applies = Applies::live,
               .meaning = "timed: playback speed relative to the log.",
               .slot = driver_slot<&R::speed>},
    SettingRow{.section = "device", .key = "loop", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the log is repeated when it ends.", .slot = driver_slot<&R::loop>},
    SettingRow{.section = "device", .key = "source", .rule = source_rule, .applies = Applies::live,
               .meaning = "The logged device whose channels are played; empty means all devices, with channels named "
                          "DEVICE.CHANNEL.",
               .slot = driver_slot<&R::source>},
    SettingRow{.section = "device", .key = "use_time", .rule = ChoiceRule{times.names},
               .applies = Applies::live,
               .meaning = "Whether samples carry the time of playback or the recorded time.",
               .slot = driver_slot<&R::use_time>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const ReplaySettings& from = part_of<ReplaySettings>(device.driver_settings);
    ReplayOptions options;
    options.path = from.path;
    options.speed = from.speed;
    options.mode = modes.value(from.mode);
    options.loop = from.loop;
    options.source = from.source;
    options.time = times.value(from.use_time);
    return make_replay_driver(std::move(options));
}

std::string played_log(const DeviceSettings& device) {
    return part_of<ReplaySettings>(device.driver_settings).path;
}

}  // namespace
}  // namespace replay_driver

extern const DriverRow replay_driver_row{.name = "replay",
                                         .settings = replay_driver::rows,
                                         .make = replay_driver::make,
                                         .played_log = replay_driver::played_log};

}  // namespace telegate
