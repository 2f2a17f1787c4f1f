#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// What the kernel counts of one thread since it began.
struct ThreadFigures {
    std::string name;
    std::uint64_t cpu_ns = 0;    // on a processor
    std::uint64_t wake_ups = 0;  // it waited for something: voluntary context switches
    std::uint64_t cut_offs = 0;  // another thread took its processor: the others
};

/// Of every thread of a process; 0 is this process. A thread that ends meanwhile is left out.
/// Threads: any. Limits: none. Failure: throws std::runtime_error when there is no such process.
[[nodiscard]] std::vector<ThreadFigures> threads_of(pid_t process);

/// What the threads whose names begin so have together, since an earlier look; those are there at both looks.
[[nodiscard]] ThreadFigures since(const std::vector<ThreadFigures>& before, const std::vector<ThreadFigures>& now,
                                  std::string_view name_begin);

/// The number behind `name` and a colon, in the text of a file such as /proc/self/status.
[[nodiscard]] std::optional<std::uint64_t> number_after(std::string_view text, std::string_view name);

/// The whole of a small file of /proc; empty when it cannot be read.
[[nodiscard]] std::string text_of(const std::string& path);

}  // namespace telegate::perf
