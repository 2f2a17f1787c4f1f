#pragma once

#include "device/driver.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

enum class ReplayMode : std::uint8_t {
    timed,    // as far apart as they were recorded
    stepped,  // one recorded moment at each reading
};
enum class ReplayTime : std::uint8_t {
    now,       // samples carry the times when they are played
    recorded,  // or those when they were captured first
};

struct ReplayOptions {
    static constexpr double speed_min = 0.001;
    static constexpr double speed_max = 1'000.0;

    std::string file;
    double speed = 1.0;  // speed_min to speed_max, of timed
    ReplayMode mode = ReplayMode::timed;
    bool loop = false;
    std::string source;  // a recorded device; "": all of them, and then channels are called DEVICE.CHANNEL
    ReplayTime time = ReplayTime::now;
};

/// Plays a recording (docs/recording.md) back: the values, qualities and order of its samples, numbered anew. The file
/// is opened at the first read. Where it is damaged one read fails, and the next one goes on behind the damage. When it
/// ends there is nothing more, or it begins again; when it ends without a sample of the source, reads fail.
/// docs/drivers/replay.md says the rest.
///
/// Limits:  samples_per_read_max samples a read.
/// Failure: throws std::invalid_argument for options out of range.
[[nodiscard]] std::unique_ptr<Driver> make_replay_driver(ReplayOptions options);

}  // namespace telegate
