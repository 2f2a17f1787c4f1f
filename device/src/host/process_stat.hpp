#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate::host {

/// What <proc>/PID/stat says of a process, as far as it is used here.
struct ProcessStat {
    std::string_view name;  // cut by the kernel at name_bytes_max
    char state = '?';
    std::uint64_t cpu_ticks = 0;  // user and system
    std::int64_t threads = 0;
    std::uint64_t start_ticks = 0;  // since boot; with the PID it names one process
    std::int64_t resident_pages = 0;

    static constexpr std::size_t name_bytes_max = 15;

    /// Dead, and only waited for by its parent.
    [[nodiscard]] bool is_over() const noexcept { return state == 'Z' || state == 'X' || state == 'x'; }
};

/// Nullopt for what is no such line. A name may hold anything, blanks and brackets too.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept;

/// The last part of the path that is the first argument in <proc>/PID/cmdline; empty for a thread of the kernel.
[[nodiscard]] std::string_view program_of(std::string_view command_line) noexcept;

}  // namespace telegate::host
