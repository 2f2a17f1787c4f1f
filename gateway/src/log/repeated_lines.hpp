#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One line for the log, formatted.
struct FormattedLine {
    int level = 0;
    std::string text;
    std::uint64_t repeated = 0;  // how often it was held back; to be said when it is not 0
};

/// Holds back a line that was written within the last minute, and says later how often.
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
    [[nodiscard]] std::vector<FormattedLine> admit(int level, std::string_view text);
    /// What has not been told yet.
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
