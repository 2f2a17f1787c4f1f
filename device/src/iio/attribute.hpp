#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Attributes of sysfs: small files with one value each.
namespace telegate::iio {

/// An attribute that stays open and is read again each time.
///
/// Threads: one at a time.
/// Limits:  one descriptor; text_bytes_max bytes of text. read() does not allocate.
/// Failure: read_number() and read_text() answer nullopt and error() is the system's number: ENODEV for a device that
///          is gone, EBADMSG for a text that is no number.
class AttributeFile {
  public:
    static constexpr std::size_t text_bytes_max = 255;

    explicit AttributeFile(const std::string& path) noexcept;
    ~AttributeFile();
    AttributeFile(AttributeFile&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), error_(other.error_) {}
    AttributeFile& operator=(AttributeFile&&) = delete;

    /// A number, and nothing else but blanks around it. Waits for as long as the device takes.
    [[nodiscard]] std::optional<double> read_number() noexcept;
    /// Trimmed.
    [[nodiscard]] std::optional<std::string> read_text();
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    [[nodiscard]] int error() const noexcept { return error_; }

  private:
    [[nodiscard]] std::optional<std::string_view> read(char (&text)[text_bytes_max]) noexcept;

    int descriptor_;
    int error_ = 0;
};

/// nullopt where there is no such attribute, or it cannot be read.
[[nodiscard]] std::optional<std::string> read_attribute(const std::string& path);
[[nodiscard]] std::optional<double> read_number(const std::string& path);
/// Writes `text` to an existing file, never through a symbolic link and, below /sys, never outside of sysfs. Returns 0
/// or an errno value: ELOOP for a link, EPERM for another file system.
[[nodiscard]] int write_attribute(const std::string& path, std::string_view text) noexcept;

}  // namespace telegate::iio
