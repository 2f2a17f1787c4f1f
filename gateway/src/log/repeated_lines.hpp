#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One line for the log.
struct LogLine {
    int level = 0;
    std::string text;
};

/// Holds back a line that was written within the last minute, and says later how often: "TEXT repeated=N".
///
/// Threads: one at a time.
/// Limits:  texts_max texts of at most text_bytes_max bytes are remembered, the oldest gives way; a longer one is
///          written each time. Nothing wakes up for it: a count is told with the next line after its minute, or by
///          rest().
/// Failure: may throw std::bad_alloc.
class RepeatedLines {
  public:
    static constexpr std::size_t texts_max = 64;         // what one minute of trouble says
    static constexpr std::size_t text_bytes_max = 1024;  // 64 KiB in all
    static constexpr std::chrono::minutes window{1};

    explicit RepeatedLines(const Clock& clock) : clock_(clock) {}

    /// What to write now that this line has come, in order.
    [[nodiscard]] std::vector<LogLine> admit(int level, std::string_view text);
    /// What has not been told yet.
    [[nodiscard]] std::vector<LogLine> rest();

  private:
    struct Known {
        LogLine line;
        MonoTime written;
        std::uint64_t held_back = 0;
    };

    void forget(std::size_t count, std::vector<LogLine>& out);

    const Clock& clock_;
    std::vector<Known> known_;  // the oldest first
};

}  // namespace telegate
