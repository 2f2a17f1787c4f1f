#pragma once

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "device/option_error.hpp"
#include "device/sample_batch.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telegate::host {

/// The context of a source in one tick. `buffer` holds one file at a time.
struct Tick {
    SampleBatch& batch;
    MonoTime now;
    std::span<char> buffer;
};

/// Returns the error for the value `text` of the list setting `key`.
[[nodiscard]] inline OptionError refused_option(const std::string& key, std::string_view text,
                                                const std::string& allowed) {
    return {key, '"' + std::string(text) + "\"; must be " + allowed};
}

/// Returns the current content of a file, up to the size of `buffer`. For files that are read once; ProcFile keeps its
/// file open. Opens only regular files, which includes those of procfs and sysfs. Returns nullopt if the file cannot be
/// read.
[[nodiscard]] std::optional<std::string_view> file_text(const char* path, std::span<char> buffer) noexcept;

/// Returns whether `path` is a regular file, or a link to one.
[[nodiscard]] bool is_regular_file(const char* path) noexcept;

/// A file of procfs or sysfs that stays open and is read from its start in every tick.
///
/// Threads: the sampling thread.
/// Limits: one descriptor. Reads no more than the caller's buffer; a longer text is truncated after its last whole
/// line. A file that cannot be opened is retried only at every reopen_ticks-th read.
/// Failure: read() returns nullopt while the file does not exist, after it was removed, and if reading fails.
class ProcFile {
  public:
    static constexpr std::uint32_t reopen_ticks = 10;

    explicit ProcFile(std::string path);

    /// Returns the current text, inside `buffer`. Never allocates.
    [[nodiscard]] std::optional<std::string_view> read(std::span<char> buffer) noexcept;

  private:
    bool ensure_open() noexcept;
    [[nodiscard]] bool was_removed() const noexcept;

    std::string path_;
    UniqueFd fd_;
    bool counts_links_ = false;  // some user-space file systems always report 0 links
    std::uint32_t reads_before_reopen_ = 0;
};

}  // namespace telegate::host
