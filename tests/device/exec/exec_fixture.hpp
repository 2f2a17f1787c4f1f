#pragma once

#include "device/driver_bench.hpp"
#include "exec/exec_driver.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace telegate::test {

inline ExecDriverOptions shell_command(std::string command) {
    ExecDriverOptions options;
    options.command = std::move(command);
    options.shell = true;
    options.timeout = std::chrono::seconds(60);  // longer than any test takes
    return options;
}

inline ExecDriverOptions continuous_command(std::string command) {
    ExecDriverOptions options = shell_command(std::move(command));
    options.mode = ExecDriverOptions::Mode::continuous;
    return options;
}

/// Returns the number that a command writes to a file, once it is there.
inline int number_in(const std::string& path) {
    int number = 0;
    (void)eventually([&] {
        std::ifstream file(path);
        return static_cast<bool>(file >> number) && number > 0;
    });
    return number;
}

/// Returns whether the process exists, as a zombie or running.
inline bool is_there(int pid) {
    return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

/// Returns whether the process runs. A process that was inherited by init, which may be slow to reap it, does not.
inline bool runs(int pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string::npos && line.size() > name_end + 2 && line[name_end + 2] != 'Z' &&
           line[name_end + 2] != 'X';
}

inline std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

}  // namespace telegate::test
