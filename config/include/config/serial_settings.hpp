#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// What a device with the driver serial says.
struct SerialSettings {
    std::string port;
    std::int64_t baud = 9'600;
    std::int64_t data_bits = 8;
    std::string parity = "none";
    std::int64_t stop_bits = 1;
    std::string flow = "none";
    std::string format = "key_value";
    std::vector<std::string> columns;  // csv
    std::string delimiter = "comma";   // csv
    std::string pattern;               // regex
    bool checksum_required = false;    // nmea
    std::int64_t line_bytes_max = 1'024;
    std::int64_t channels_max = 256;
    bool skip_first_line = true;
    std::int64_t silence_ms = 10'000;     // 0: never
    std::string frame_start;              // frames, in hexadecimal digits
    std::int64_t frame_bytes = 0;         // frames
    std::string frame_checksum = "none";  // frames
};

/// What is said of a channel of such a device.
struct SerialChannelSettings {
    std::string frame_type = "none";  // none: no number of a frame
    std::int64_t frame_offset = 0;
};

}  // namespace telegate
