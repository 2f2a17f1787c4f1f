#include "base/whole_file.hpp"

#include "core/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace telegate {
namespace {

[[noreturn]] void fail_to(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void write_all(int descriptor, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            fail_to("write " + path);
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
}

std::string error_text(const std::string& path, int error) {
    return path + ": " + std::generic_category().message(error);
}

}  // namespace

std::string link_target(std::string path) {
    constexpr int links_max = 40;  // same as the kernel
    for (int i = 0; i < links_max; ++i) {
        struct stat facts {};
        if (::lstat(path.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) {
            return path;  // opening the path reports any error
        }
        if (facts.st_uid != 0 && facts.st_uid != ::geteuid()) {
            errno = EACCES;
            fail_to("the symbolic link " + path + " of another user");
        }
        // An absolute target replaces the directory.
        path = std::filesystem::path(path).parent_path() / std::filesystem::read_symlink(path);
    }
    errno = ELOOP;
    fail_to(path);
}

std::string read_whole_file(const std::string& path, std::size_t bytes_max) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
        fail_to("open " + path);
    }
    if (!S_ISREG(facts.st_mode)) {
        errno = EINVAL;
        fail_to("read " + path + ": not a regular file");
    }
    if (static_cast<std::uint64_t>(facts.st_size) > bytes_max) {
        errno = EFBIG;
        fail_to("read " + path);
    }
    std::string text(static_cast<std::size_t>(facts.st_size), '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            fail_to("read " + path);
        }
        if (got == 0) {
            break;
        }
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

void replace_whole_file(const std::string& path, std::string_view text) {
    const std::string fresh = path + ".new";
    ::unlink(fresh.c_str());  // left over from an interrupted write
    {
        const UniqueFd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (file.get() < 0) {
            fail_to("open " + fresh);
        }
        write_all(file.get(), text, fresh);
        if (::fsync(file.get()) != 0) {
            fail_to("fsync " + fresh);
        }
    }
    if (::rename(fresh.c_str(), path.c_str()) != 0) {
        fail_to("rename " + fresh);
    }
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const UniqueFd parent(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() < 0 || ::fsync(parent.get()) != 0) {
        fail_to("fsync " + folder);
    }
}

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
