#include "device/driver_row.hpp"
#include "replay/replay_driver.hpp"

#include <array>
#include <string>

namespace telegate {
namespace replay_driver {
namespace {

using R = ReplayOptions;

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
               .meaning = "Directory of the durable log to play.", .slot = slot_of<&R::path>},
    SettingRow{.section = "device", .key = "mode", .rule = ChoiceRule{modes.names},
               .applies = Applies::live,
               .meaning = "Whether the logged intervals are kept, or each reading plays one logged moment.",
               .slot = choice_of<modes, &R::mode>},
    SettingRow{.section = "device", .key = "speed", .rule = speed_rule, .applies = Applies::live,
               .meaning = "timed: playback speed relative to the log.",
               .slot = slot_of<&R::speed>},
    SettingRow{.section = "device", .key = "loop", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the log is repeated when it ends.", .slot = slot_of<&R::loop>},
    SettingRow{.section = "device", .key = "source", .rule = source_rule, .applies = Applies::live,
               .meaning = "The logged device whose channels are played; empty means all devices, with channels named "
                          "DEVICE.CHANNEL.",
               .slot = slot_of<&R::source>},
    SettingRow{.section = "device", .key = "use_time", .rule = ChoiceRule{times.names},
               .applies = Applies::live,
               .meaning = "Whether samples carry the time of playback or the recorded time.",
               .slot = choice_of<times, &R::time>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    return make_replay_driver(part_of<ReplayOptions>(device.parts));
}

std::string played_log(const DeviceSettings& device) {
    return part_of<ReplayOptions>(device.parts).path;
}

}  // namespace
}  // namespace replay_driver

extern const DriverRow replay_driver_row{.name = "replay",
                                         .settings = replay_driver::rows,
                                         .make = replay_driver::make,
                                         .played_log = replay_driver::played_log};

}  // namespace telegate
