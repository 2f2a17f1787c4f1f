#pragma once

#include <cstdint>
#include <string>

namespace telegate {

/// What a device with the driver http says.
struct HttpSettings {
    std::string url;
    std::string format = "json";
    std::int64_t timeout_ms = 2'000;
    std::int64_t response_bytes_max = 1'048'576;
    std::int64_t channels_max = 256;
    std::string token_file;  // "": none
    std::string ca_file;     // "": certificates of the system
};

/// What is said of a channel of such a device.
struct HttpChannelSettings {
    std::string source;  // "": not read by itself
};

}  // namespace telegate
