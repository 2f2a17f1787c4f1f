#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>

namespace telegate::perf {

/// Processors for the two threads of a round trip; none where the system is to choose.
struct Placement {
    std::optional<int> asking;
    std::optional<int> answering;
};

/// "apart": the first and the last processor that we may use, which share no core where there are four or more;
/// "together": both on the first; "free": the system's choice. With one processor, apart is free.
[[nodiscard]] Placement placement_of(std::string_view name);
/// "pinned to processors 0 and 1".
[[nodiscard]] std::string words_of(const Placement& placement);

/// Keeps the thread that makes it on one processor for as long as it lives.
/// Threads: one. Limits: none. Failure: throws std::system_error.
class Pin {
  public:
    explicit Pin(std::optional<int> processor);
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

  private:
    std::optional<cpu_set_t> before_;
};

}  // namespace telegate::perf
