#pragma once

#include "system.hpp"

#include <sched.h>

#include <optional>
#include <string_view>

namespace telegate::perf {

/// The processors of the two threads of a round trip; none if the system chooses.
struct Placement {
    std::optional<int> asking;
    std::optional<int> answering;
};

[[nodiscard]] inline cpu_set_t allowed_processors() {
    cpu_set_t set;
    checked(::sched_getaffinity(0, sizeof set, &set), "sched_getaffinity");
    return set;
}

/// "apart": the first and the last available processor, which are on different cores if there are four or more;
/// "together": both on the first; "free": the system chooses. With one processor, "apart" is the same as "free".
[[nodiscard]] inline Placement placement_of(std::string_view name) {
    const cpu_set_t set = allowed_processors();
    std::optional<int> first;
    std::optional<int> last;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(static_cast<unsigned>(processor), &set)) {
            first = first ? first : processor;
            last = processor;
        }
    }
    if (name == "together") {
        return {first, first};
    }
    return name == "apart" && first != last ? Placement{first, last} : Placement{};
}

[[nodiscard]] inline std::string words_of(const Placement& placement) {
    if (!placement.asking || !placement.answering) {
        return "not pinned";
    }
    const std::string first = std::to_string(*placement.asking);
    return placement.asking == placement.answering
               ? "both pinned to processor " + first
               : "pinned to processors " + first + " and " + std::to_string(*placement.answering);
}

/// Pins the current thread to a processor while it exists.
/// Threads: one. Limits: none. Failure: throws std::system_error.
class Pin {
  public:
    explicit Pin(std::optional<int> processor) {
        if (processor) {
            before_ = allowed_processors();
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(static_cast<unsigned>(*processor), &one);
            checked(::sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
        }
    }
    ~Pin() {
        if (before_) {
            ::sched_setaffinity(0, sizeof *before_, &*before_);
        }
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

  private:
    std::optional<cpu_set_t> before_;
};

}  // namespace telegate::perf
