#include "host/proc_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace telegate::host {
namespace {

/// Returns whether reading failed permanently because the file behind the descriptor no longer exists.
bool is_gone(int error) noexcept {
    return error == ENODEV || error == ENXIO || error == ENOENT || error == ESTALE || error == ESRCH;
}

/// Opening a device may have side effects; opening a pipe without O_NONBLOCK may block forever.
UniqueFd open_regular(const char* path) noexcept {
    return UniqueFd(is_regular_file(path) ? ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1);
}

/// Reads from the start of a file. Returns how much of the buffer was filled; nullopt and errno if reading failed.
std::optional<std::size_t> read_all(int descriptor, std::span<char> buffer) noexcept {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        // procfs returns a long table about a page at a time; only an empty read is the end.
        const ssize_t got =
            ::pread(descriptor, buffer.data() + filled, buffer.size() - filled, static_cast<off_t>(filled));
        if (got == 0) {
            break;
        }
        if (got > 0) {
            filled += static_cast<std::size_t>(got);
        } else if (errno != EINTR) {
            return std::nullopt;
        }
    }
    return filled;
}

std::string_view whole_lines(std::string_view text) noexcept {
    return text.substr(0, text.rfind('\n') + 1);
}

}  // namespace

std::optional<std::string_view> file_text(const char* path, std::span<char> buffer) noexcept {
    const UniqueFd fd = open_regular(path);
    const auto bytes = fd.get() >= 0 ? read_all(fd.get(), buffer) : std::nullopt;
    return bytes ? std::optional(std::string_view(buffer.data(), *bytes)) : std::nullopt;
}

bool is_regular_file(const char* path) noexcept {
    struct stat status {};
    return ::stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

ProcFile::ProcFile(std::string path) : path_(std::move(path)) {}

std::optional<std::string_view> ProcFile::read(std::span<char> buffer) noexcept {
    if (!ensure_open()) {
        return std::nullopt;
    }
    const auto filled = read_all(fd_.get(), buffer);
    if (!filled) {
        if (is_gone(errno)) {
            fd_ = {};
        }
        return std::nullopt;
    }
    if (was_removed()) {  // its last content would look like a current reading
        fd_ = {};
        return std::nullopt;
    }
    const std::string_view text(buffer.data(), *filled);
    return *filled == buffer.size() ? whole_lines(text) : text;
}

bool ProcFile::ensure_open() noexcept {
    if (fd_.get() >= 0) {
        return true;
    }
    if (reads_before_reopen_ > 0) {
        --reads_before_reopen_;
        return false;
    }
    fd_ = open_regular(path_.c_str());
    if (fd_.get() < 0) {
        reads_before_reopen_ = reopen_ticks - 1;
        return false;
    }
    struct stat status {};
    counts_links_ = ::fstat(fd_.get(), &status) == 0 && status.st_nlink > 0;
    return true;
}

bool ProcFile::was_removed() const noexcept {
    struct stat status {};
    return counts_links_ && ::fstat(fd_.get(), &status) == 0 && status.st_nlink == 0;
}

}  // namespace telegate::host
