#pragma once

#include "host/channel_names.hpp"
#include "host/proc_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// The maximum rate of a counter. A faster step means that the counter restarted.
struct RateLimits {
    double per_second_max;
    double wrapped_per_second_max;  // for steps across 2^32, because only old or slow hardware still counts in 32 bits
};

/// Returns the mean rate per second between two readings of a counter, `seconds` apart.
///
/// A lower value means that a 32-bit counter overflowed if the earlier value fits in 32 bits, the step across 2^32 is
/// less than half of that range and the rate is within the limits. Otherwise the counter was reset, and the rate is
/// unknown.
[[nodiscard]] std::optional<double> counter_rate(std::uint64_t before, std::uint64_t now, double seconds,
                                                 RateLimits limits) noexcept;

/// The value of a counter: field number `field` of the row, times `factor`.
struct CounterColumn {
    const char* name;
    const char* unit;
    std::size_t field;
    std::int64_t factor;
};

/// The rate of a counter: field number `field` per second, times `factor`, at most `value_max`.
struct RateColumn {
    const char* name;
    const char* unit;
    std::size_t field;
    double factor;
    RateLimits limits;  // of the field, before `factor`
    double value_max = std::numeric_limits<double>::infinity();
};

/// The structure of rows of one kind; consists of literals.
struct RowLayout {
    const char* prefix;  // channels are <prefix>.<row>.<column>
    std::span<const CounterColumn> counters;
    std::span<const RateColumn> rates;
};

/// The rows of a table of counters, such as disks or interfaces. Rows can disappear and return, and keep their
/// channels.
///
/// Threads: the sampling thread.
/// Limits: rows_max rows in total, including those that have disappeared; others are counted in <prefix>.left_out.
/// Names are truncated to a topic part. Only a new row allocates.
/// Failure: std::bad_alloc for a new row. A row that is not updated in a tick produces no samples.
class CounterRows {
  public:
    static constexpr std::size_t rows_max = 64;
    static constexpr std::size_t fields_max = 20;
    static constexpr std::size_t columns_max = 12;

    explicit CounterRows(RowLayout layout);

    void open(SampleBatch& batch);
    /// Adds the channel names of all rows, with * for the row.
    void add_names(std::vector<std::string>& names) const;
    void begin_tick() noexcept;
    /// Updates a row with the fields that were read. Declares the channels of a new row first. Thread: sampling.
    void update(const Tick& tick, std::string_view name, std::span<const std::uint64_t> fields);
    /// Ends a tick. Call it after the last row of a table that could be read.
    void end_tick(const Tick& tick);
    [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) < rows_.size(); }
    /// Declares a row without a reading.
    void declare(SampleBatch& batch, std::string_view name);
    /// Makes the next reading of each row count as its first.
    void forget_readings() noexcept;

  private:
    struct Row {
        std::string name;
        std::array<SampleBatch::Channel, columns_max> channels{};
        std::array<std::uint64_t, fields_max> fields{};
        std::size_t field_count = 0;  // 0: no previous reading
        MonoTime time{};
        bool updated = false;
    };

    /// Returns the index of a row; rows_.size() if there is none.
    [[nodiscard]] std::size_t find(std::string_view name) const noexcept;
    void add(SampleBatch& batch, std::string_view name);
    void add_samples(const Tick& tick, const Row& row, std::span<const std::uint64_t> fields) const;

    const RowLayout layout_;
    std::vector<Row> rows_;
    FreeNames names_;
    std::size_t next_row_ = 0;  // where the search begins, because tables keep their order
    std::int64_t left_out_ = 0;
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
