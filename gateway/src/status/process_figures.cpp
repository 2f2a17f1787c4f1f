#include "status/process_figures.hpp"

#include "core/page_size.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace telegate {
namespace {

std::string read_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

double boot_time_seconds() {
    const std::string text = read_file("/proc/stat");
    const std::size_t at = text.find("\nbtime ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + 7));
}

std::uint64_t count_descriptors() {
    std::error_code error;
    const std::filesystem::directory_iterator entries("/proc/self/fd", error);
    const auto count = error ? 0 : std::distance(begin(entries), end(entries));
    return count > 0 ? static_cast<std::uint64_t>(count - 1) : 0;  // without the descriptor of the iterator
}

}  // namespace

ProcessFigures process_figures() {
    ProcessFigures figures;
    const std::string stat = read_file("/proc/self/stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos) {
        std::istringstream words(stat.substr(name_end + 1));
        std::string skipped;
        const auto skip = [&](int count) {
            for (int i = 0; i < count; ++i) {
                words >> skipped;
            }
        };
        std::uint64_t user = 0;
        std::uint64_t system = 0;
        std::uint64_t start = 0;
        std::uint64_t pages = 0;
        skip(11);  // up to field 13 of proc(5)
        words >> user >> system;
        skip(4);
        words >> figures.threads;
        skip(1);
        words >> start >> figures.virtual_bytes >> pages;
        const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
        figures.cpu_seconds = static_cast<double>(user + system) / ticks;
        figures.start_time_seconds = boot_time_seconds() + static_cast<double>(start) / ticks;
        figures.resident_bytes = pages * page_bytes;
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        figures.descriptors_max = limit.rlim_cur;
    }
    figures.open_descriptors = count_descriptors();
    return figures;
}

}  // namespace telegate
