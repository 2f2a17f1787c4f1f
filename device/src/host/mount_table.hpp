#pragma once

#include "host/proc_file.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// Which file systems are where, from the text of <proc>/self/mountinfo. To ask a file system whose server does not
/// answer holds the thread for ever, so what is not known to be local is left alone.
namespace telegate::host {

/// The type of what was last mounted at `mount_point`; "" where nothing is.
[[nodiscard]] std::string_view mount_type(std::string_view mountinfo, std::string_view mount_point) noexcept;

/// Whether file systems of that type answer without a network, a program or an automounter.
[[nodiscard]] bool is_local_type(std::string_view type) noexcept;

/// The first type on the way to the absolute `path` that is not local; "" when there is none.
[[nodiscard]] std::string_view remote_type(std::string_view mountinfo, std::string_view path) noexcept;

/// The first type that is not local of what is mounted anywhere below `directory`; "" when there is none.
[[nodiscard]] std::string_view remote_type_below(std::string_view mountinfo, std::string_view directory) noexcept;

/// The table of this process.
///
/// Threads: the sampling thread.
/// Limits:  a table that does not fit the caller's buffer has no text: its last lines are what counts.
/// Failure: `fault` says why there is no text; it is a literal.
class MountTable {
  public:
    struct Reading {
        std::string_view text = {};   // in the caller's buffer
        std::string_view fault = {};  // "" for none
        bool has_changed = true;      // since the reading before
    };

    explicit MountTable(const std::string& proc_root) : file_(proc_root + "/self/mountinfo") {}

    [[nodiscard]] Reading read(std::span<char> buffer) noexcept;

  private:
    ProcFile file_;
    std::size_t last_hash_ = 0;
};

}  // namespace telegate::host
