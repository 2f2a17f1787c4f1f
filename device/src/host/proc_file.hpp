#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telegate::host {

/// A file of procfs or sysfs that stays open and is read again from its start on every tick.
///
/// Threads: the sampling thread.
/// Limits:  one descriptor; no more than the caller's buffer is read, and what does not fit is cut after its last
///          whole line. A file that cannot be opened is tried again on every reopen_ticks-th read only.
/// Failure: read() answers nullopt while there is no such file, after it has been removed, and when reading fails.
class ProcFile {
  public:
    static constexpr std::uint32_t reopen_ticks = 10;

    explicit ProcFile(std::string path);
    ~ProcFile();
    ProcFile(ProcFile&& other) noexcept;
    ProcFile& operator=(ProcFile&&) = delete;

    /// The text of now, inside `buffer`. Never allocates.
    [[nodiscard]] std::optional<std::string_view> read(std::span<char> buffer) noexcept;

  private:
    bool ensure_open() noexcept;
    void close() noexcept;
    [[nodiscard]] bool was_removed() const noexcept;

    std::string path_;
    int fd_ = -1;
    bool counts_links_ = false;  // some file systems in user space always report 0 links
    std::uint32_t reads_before_reopen_ = 0;
};

}  // namespace telegate::host
