#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate::host {

/// The used fields of <proc>/PID/stat.
struct ProcessStat {
    std::string_view name;  // truncated by the kernel to name_bytes_max
    char state = '?';
    std::uint64_t cpu_ticks = 0;  // user and system
    std::int64_t threads = 0;
    std::uint64_t start_ticks = 0;  // since boot; identifies a process together with its PID
    std::int64_t resident_pages = 0;

    static constexpr std::size_t name_bytes_max = 15;

    /// Returns whether the process has ended and only waits for its parent.
    [[nodiscard]] bool is_over() const noexcept { return state == 'Z' || state == 'X' || state == 'x'; }
};

/// Returns nullopt for a text that is not such a line. A name may contain anything, including blanks and brackets.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept;

/// Returns the last part of the program path, the first argument in <proc>/PID/cmdline; empty for a kernel thread.
[[nodiscard]] std::string_view program_of(std::string_view command_line) noexcept;

}  // namespace telegate::host
