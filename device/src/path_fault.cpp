#include "path_fault.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace telegate {

std::string error_words(int error) {
    return std::generic_category().message(error);
}

std::string path_fault(const std::string& path, int mode) {
    return ::access(path.c_str(), mode) == 0 ? "" : path + ": " + error_words(errno);
}

std::string tty_fault(const std::string& path, int mode) {
    std::string fault = path_fault(path, mode);
    struct stat facts {};
    if (fault.empty() && ::stat(path.c_str(), &facts) == 0 && !S_ISCHR(facts.st_mode)) {
        fault = path + ": not a tty";
    }
    return fault;
}

}  // namespace telegate
