#pragma once

#include "device/driver.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

enum class ReplayMode : std::uint8_t {
    timed,    // with the logged intervals
    stepped,  // one logged moment per reading
};
enum class ReplayTime : std::uint8_t {
    now,       // samples carry the time at which they are played
    recorded,  // samples carry the time at which they were recorded
};

/// Also the settings of a device with the driver replay, which limit the values.
struct ReplayOptions {
    std::string path;    // the directory of the log
    double speed = 1.0;  // timed only
    ReplayMode mode = ReplayMode::timed;
    bool loop = false;
    std::string source;  // a logged device; "": all devices, with channels named DEVICE.CHANNEL
    ReplayTime time = ReplayTime::now;
};

/// Creates a driver that plays a durable log (docs/log.md): the values, qualities and order of its samples, with new
/// sequence numbers. The first read opens the log. At a damaged range one reading fails, and the next reading continues
/// after it. At its end the log stops or starts again; if it has no samples of the source, readings fail. See
/// docs/drivers/replay.md.
///
/// Limits: samples_per_read_max samples per reading.
/// Failure: throws std::invalid_argument for an empty path.
[[nodiscard]] std::unique_ptr<Driver> make_replay_driver(ReplayOptions options);

}  // namespace telegate
