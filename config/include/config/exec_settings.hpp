#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// What a device with the driver exec says.
struct ExecSettings {
    std::string command;
    bool shell = false;
    std::string mode = "once";
    std::int64_t timeout_ms = 5'000;  // once
    std::int64_t silence_ms = 0;      // continuous; 0: never
    std::string format = "key_value";
    std::vector<std::string> columns;  // csv
    std::string delimiter = "comma";   // csv
    std::string pattern;               // regex
    bool checksum_required = false;    // nmea
    bool use_time = false;             // json
    std::string time_precision = "auto";
    std::string time_member;  // json; "": none
    std::string name_member;  // json; "": none
    std::int64_t line_bytes_max = 1'024;
    std::int64_t channels_max = 256;
    std::int64_t output_bytes_max = 1'048'576;  // once
    std::string working_directory = "/";
    std::vector<std::string> environment;
    std::int64_t memory_max_bytes = 0;  // 0: no limit
    std::int64_t cpu_seconds_max = 0;   // 0: no limit
};

}  // namespace telegate
