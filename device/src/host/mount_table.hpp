#pragma once

#include "host/proc_file.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// Determines the file systems of paths from the text of <proc>/self/mountinfo. Querying a file system whose server
/// does not respond blocks the thread forever, so file systems that are not known to be local are not queried.
namespace telegate::host {

/// Returns the type of the last mount at `mount_point`; "" if there is none.
[[nodiscard]] std::string_view mount_type(std::string_view mountinfo, std::string_view mount_point) noexcept;

/// Returns whether file systems of this type respond without a network, a program or an automounter.
[[nodiscard]] bool is_local_type(std::string_view type) noexcept;

/// Returns the first non-local type of the mounts on the absolute `path`; "" if there is none.
[[nodiscard]] std::string_view remote_type(std::string_view mountinfo, std::string_view path) noexcept;

/// Returns the first non-local type of the mounts below `directory`; "" if there is none.
[[nodiscard]] std::string_view remote_type_below(std::string_view mountinfo, std::string_view directory) noexcept;

/// The mount table of this process.
///
/// Threads: the sampling thread.
/// Limits: a table that does not fit in the caller's buffer has no text, because its last lines are decisive.
/// Failure: `fault` says why there is no text; it is a literal.
class MountTable {
  public:
    struct Reading {
        std::string_view text = {};   // in the caller's buffer
        std::string_view fault = {};  // "": none
        bool has_changed = true;      // since the previous reading
    };

    explicit MountTable(const std::string& proc_root) : file_(proc_root + "/self/mountinfo") {}

    [[nodiscard]] Reading read(std::span<char> buffer) noexcept;

  private:
    ProcFile file_;
    std::size_t last_hash_ = 0;
};

}  // namespace telegate::host
