#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A formatted log line.
struct FormattedLine {
    int level = 0;
    std::string text;
    std::uint64_t repeated = 0;  // how often it was suppressed; written if not 0
};

/// Suppresses a line that was written within the last minute, and reports later how often.
///
/// Threads: one at a time.
/// Limits: texts_max texts of at most text_bytes_max bytes are remembered, the oldest is removed first; a longer text
/// is written each time. No timer: a count is reported with the first line after its minute, or by rest().
/// Failure: may throw std::bad_alloc.
class RepeatedLines {
  public:
    static constexpr std::size_t texts_max = 64;         // enough for one minute of a fault
    static constexpr std::size_t text_bytes_max = 1024;  // 64 KiB in all
    static constexpr std::chrono::minutes window{1};

    explicit RepeatedLines(const Clock& clock) : clock_(clock) {}

    /// Returns the lines to write after this line was logged, in order.
    [[nodiscard]] std::vector<FormattedLine> admit(int level, std::string_view text);
    /// Returns the remaining counts that were not reported.
    [[nodiscard]] std::vector<FormattedLine> rest();

  private:
    struct Known {
        FormattedLine line;
        MonoTime written;
    };

    void forget(std::size_t count, std::vector<FormattedLine>& out);

    const Clock& clock_;
    std::vector<Known> known_;  // the oldest first
};

}  // namespace telegate
