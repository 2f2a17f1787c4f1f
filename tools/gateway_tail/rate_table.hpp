#pragma once

#include "sample.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::tail {

/// A table of the samples, delays and losses of each topic. The delay of a sample is the time from its timestamp to its
/// output.
///
/// Threads: one. Limits: one row per topic of the splice. Failure: std::bad_alloc.
class RateTable {
  public:
    void give(const Sample& sample, std::int64_t now_utc_ns);
    void lose(const Gap& gap);

    /// Returns a header line and a line for each topic, at most `rows_max`, then the number of topics that were
    /// omitted. Starts a new interval for the rates; `elapsed` is the length of the last one.
    [[nodiscard]] std::string page(std::chrono::nanoseconds elapsed, std::size_t rows_max);

  private:
    struct Row {
        std::string topic;
        std::uint64_t samples = 0;
        std::uint64_t lost = 0;
        // since the last page
        std::uint64_t fresh = 0;
        std::int64_t late_ns = 0;
        std::int64_t latest_ns = 0;
    };

    Row& row_of(std::string_view topic, std::uint32_t index);
    static void append_row(std::string& out, const Row& row, double seconds, std::size_t width);

    std::vector<Row> rows_;
};

}  // namespace telegate::tail
