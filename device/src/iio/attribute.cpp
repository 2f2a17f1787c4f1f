#include "iio/attribute.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

namespace telegate::iio {

AttributeFile::AttributeFile(const std::string& path) noexcept
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), error_(is_open() ? 0 : errno) {}

std::optional<double> AttributeFile::read_number() noexcept {
    char bytes[text_bytes_max];
    const auto text = read(bytes);
    const bool is_whole = text && text->size() < text_bytes_max;
    const auto number = is_whole ? parse_number<double>(trimmed(*text, host::blanks)) : std::nullopt;
    if (number && std::isfinite(*number)) {
        return number;
    }
    error_ = text ? EBADMSG : error_;
    return std::nullopt;
}

std::optional<std::string> AttributeFile::read_text() {
    char bytes[text_bytes_max];
    const auto text = read(bytes);
    return text ? std::optional(std::string(trimmed(*text, host::blanks))) : std::nullopt;
}

std::optional<std::string_view> AttributeFile::read(char (&text)[text_bytes_max]) noexcept {
    if (!is_open()) {
        return std::nullopt;
    }
    ssize_t got = 0;
    do {
        got = ::pread(descriptor_.get(), text, text_bytes_max, 0);
    } while (got < 0 && errno == EINTR);
    error_ = got < 0 ? errno : 0;
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) == 0 && status.st_nlink == 0) {
        error_ = ENODEV;  // the remaining content of a deleted file would look like a current value
    }
    return error_ != 0 ? std::nullopt : std::optional(std::string_view(text, static_cast<std::size_t>(got)));
}

std::optional<std::string> read_attribute(const std::string& path) {
    return AttributeFile(path).read_text();
}

std::optional<double> read_number(const std::string& path) {
    return AttributeFile(path).read_number();
}

int write_attribute(const std::string& path, std::string_view text) noexcept {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
    if (file.get() < 0) {
        return errno;
    }
    struct statfs filesystem {};
    if (path.starts_with("/sys/") && (::fstatfs(file.get(), &filesystem) != 0 || filesystem.f_type != SYSFS_MAGIC)) {
        return EPERM;
    }
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? 0 : (written < 0 ? errno : EIO);
}

}  // namespace telegate::iio
