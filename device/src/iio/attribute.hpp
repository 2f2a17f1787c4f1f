#pragma once

#include "core/unique_fd.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// sysfs attributes: small files with one value each.
namespace telegate::iio {

/// An attribute that stays open and is read repeatedly.
///
/// Threads: one at a time.
/// Limits: one descriptor; text_bytes_max bytes of text. read() does not allocate.
/// Failure: read_number() and read_text() return nullopt and error() is an errno value: ENODEV for a device that was
/// removed, EBADMSG for a text that is not a finite number.
class AttributeFile {
  public:
    static constexpr std::size_t text_bytes_max = 255;

    explicit AttributeFile(const std::string& path) noexcept;

    /// Reads a number with optional blanks around it. Blocks for as long as the device needs.
    [[nodiscard]] std::optional<double> read_number() noexcept;
    /// Reads the text without leading and trailing blanks.
    [[nodiscard]] std::optional<std::string> read_text();
    [[nodiscard]] bool is_open() const noexcept { return descriptor_.get() >= 0; }
    [[nodiscard]] int error() const noexcept { return error_; }

  private:
    [[nodiscard]] std::optional<std::string_view> read(char (&text)[text_bytes_max]) noexcept;

    UniqueFd descriptor_;
    int error_ = 0;
};

/// Return nullopt if the attribute does not exist or cannot be read.
[[nodiscard]] std::optional<std::string> read_attribute(const std::string& path);
[[nodiscard]] std::optional<double> read_number(const std::string& path);
/// Writes `text` to an existing file. Never follows a symbolic link and, below /sys, never writes outside of sysfs.
/// Returns 0 or an errno value: ELOOP for a link, EPERM for another file system.
[[nodiscard]] int write_attribute(const std::string& path, std::string_view text) noexcept;

}  // namespace telegate::iio
