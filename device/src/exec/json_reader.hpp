#pragma once

#include "device/sample_batch.hpp"
#include "lines/line_assembler.hpp"
#include "lines/line_format.hpp"
#include "metrics/line_intake.hpp"
#include "metrics/metric_rules.hpp"
#include "metrics/metric_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate::exec {

/// Reads lines of JSON, like LineReader for other formats, with the same counts.
///
/// Threads: the constructor runs on any thread; everything else on the one that reads the device.
/// Limits: those of LineAssembler, JsonScan and MetricSink.
/// Failure: std::bad_alloc for a new name.
class JsonReader {
  public:
    JsonReader(MetricRules rules, LineLimits limits);

    void open(SampleBatch& batch);
    /// Adds samples of all lines that end in `bytes`, with the current time of arrival. Returns the number of valid
    /// lines.
    std::size_t take(std::string_view bytes, SampleBatch& batch);
    std::size_t finish(SampleBatch& batch);
    void report_counts(SampleBatch& batch, bool all = false);
    void begin_line() noexcept { assembler_.clear(); }
    void skip_line() noexcept { assembler_.skip_line(); }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_ + assembler_.overlong(); }
    [[nodiscard]] std::string_view why_refused() const noexcept { return "not a JSON object or array, or too long"; }

  private:
    std::size_t take_line(std::string_view line, SampleBatch& batch);

    struct Reported {
        SampleBatch::Channel channel = SampleBatch::Channel::none;
        std::int64_t value = -1;
    };
    static void tell(SampleBatch& batch, Reported& reported, std::int64_t value, bool always);

    const MetricRules rules_;
    LineAssembler assembler_;
    metrics::MetricSink sink_;
    metrics::JsonIntake intake_;
    std::uint64_t refused_ = 0;
    std::uint64_t overlong_seen_ = 0;
    Reported lines_refused_;
    Reported fields_refused_;
};

}  // namespace telegate::exec
