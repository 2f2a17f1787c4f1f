#pragma once

#include <string>
#include <vector>

namespace telegate {

/// What a device with the driver host says.
struct HostSettings {
    bool per_core = false;
    std::string proc_root = "/proc";
    std::string sys_root = "/sys";
    std::vector<std::string> processes;    // names of programs
    std::vector<std::string> filesystems;  // mount points
    std::vector<std::string> files;        // NAME=PATH
};

}  // namespace telegate
