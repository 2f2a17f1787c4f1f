#include "host/file_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace telegate::host {

std::optional<std::string_view> file_text(const char* path, std::span<char> buffer) noexcept {
    // Opening a device may have side effects; opening a pipe without O_NONBLOCK may block forever.
    const int fd = is_regular_file(path) ? ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0) {
        return std::nullopt;
    }
    std::size_t filled = 0;
    ssize_t got = 0;
    while (filled < buffer.size()) {
        got = ::read(fd, buffer.data() + filled, buffer.size() - filled);
        if (got > 0) {
            filled += static_cast<std::size_t>(got);
        } else if (got == 0 || errno != EINTR) {
            break;
        }
    }
    ::close(fd);
    if (got < 0) {
        return std::nullopt;
    }
    return std::string_view(buffer.data(), filled);
}

bool is_regular_file(const char* path) noexcept {
    struct stat status {};
    return ::stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace telegate::host
