#include "base/file_fault.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace telegate {
namespace {

std::string error_text(const std::string& path, int error) {
    return path + ": " + std::generic_category().message(error);
}

}  // namespace

std::string openness_fault(const std::string& path, mode_t mode) {
    if ((mode & S_IRWXO) == 0) {
        return "";
    }
    const bool reads = (mode & S_IROTH) != 0;
    const bool writes = (mode & S_IWOTH) != 0;
    const std::string may = reads && writes ? "read and written" : reads ? "read" : writes ? "written" : "executed";
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "%04o", static_cast<unsigned>(mode & 07777U));
    return path + ": has mode " + digits.data() + ", so it can be " + may +
           " by every user of this machine: must not be accessible to others, run chmod o= " + path;
}

std::string file_fault(const std::string& path, FileHolds what) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
        return error_text(path, errno);
    }
    if (S_ISDIR(facts.st_mode)) {
        return error_text(path, EISDIR);
    }
    if (!S_ISREG(facts.st_mode)) {  // reading a FIFO could block
        return path + ": is not a regular file";
    }
    if (::access(path.c_str(), R_OK) != 0) {
        return error_text(path, errno);
    }
    return what == FileHolds::secret ? openness_fault(path, facts.st_mode) : "";
}

}  // namespace telegate
