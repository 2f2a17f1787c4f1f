#pragma once

#include <string>

namespace telegate {

/// What a device with the driver replay says.
struct ReplaySettings {
    std::string file;
    double speed = 1.0;
    std::string mode = "timed";
    bool loop = false;
    std::string source;  // "": all recorded devices
    std::string use_time = "now";
};

}  // namespace telegate
