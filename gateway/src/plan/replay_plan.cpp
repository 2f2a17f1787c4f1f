#include "device/replay_driver.hpp"
#include "plan/drivers.hpp"

#include <utility>

namespace telegate {

std::unique_ptr<Driver> make_replay(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const ReplaySettings& from = device.replay;
    ReplayOptions options;
    options.file = from.file;
    options.speed = from.speed;
    options.mode = from.mode == "stepped" ? ReplayMode::stepped : ReplayMode::timed;
    options.loop = from.loop;
    options.source = from.source;
    options.time = from.use_time == "recorded" ? ReplayTime::recorded : ReplayTime::now;
    return make_replay_driver(std::move(options));
}

}  // namespace telegate
