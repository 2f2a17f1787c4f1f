#include "surroundings.hpp"

#include <sys/utsname.h>

#include <cstddef>
#include <fstream>
#include <thread>

namespace telegate::perf {

namespace {

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            const std::size_t colon = line.find(": ");
            return colon == std::string::npos ? line : line.substr(colon + 2);
        }
    }
    return "unknown";
}

/// The last number of a setting of the system, in bytes: of three, the greatest.
std::string bytes_in(const char* setting) {
    std::ifstream file(setting);
    std::string last;
    for (std::string word; file >> word;) {
        last = word;
    }
    return last.empty() ? "unknown" : "at most " + last + " bytes";
}

std::string compiler_name() {
#if defined(__clang__)
    return __VERSION__;
#else
    return "GCC " __VERSION__;
#endif
}

}  // namespace

Facts surroundings() {
    utsname system{};
    const bool known = ::uname(&system) == 0;
    return {{"processor", processor_name()},
            {"cores", std::to_string(std::thread::hardware_concurrency())},
            {"system", known ? std::string(system.sysname) + " " + system.release : "unknown"},
            {"wmem_max", bytes_in("/proc/sys/net/core/wmem_max")},
            {"tcp_wmem", bytes_in("/proc/sys/net/ipv4/tcp_wmem")},
            {"compiler", compiler_name()},
            {"build", TELEGATE_BUILD},
            {"flags", TELEGATE_FLAGS},
            {"version", "Telegate " TELEGATE_VERSION}};
}

}  // namespace telegate::perf
