#pragma once

#include "lines/byte_reader.hpp"
#include "lines/line_assembler.hpp"
#include "lines/line_format.hpp"
#include "metrics/given_time.hpp"
#include "metrics/line_intake.hpp"
#include "metrics/metric_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::exec {

/// Reads lines of JSON, like LineReader for other formats, with the same counts.
///
/// Threads, Failure: those of ByteReader.
/// Limits: those of LineAssembler, JsonScan and MetricSink.
class JsonReader final : public ByteReader {
  public:
    JsonReader(MetricRules rules, LineLimits limits);

    void open(SampleBatch& batch) override;
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override { return std::nullopt; }
    /// The samples have the current time.
    std::size_t feed(std::string_view bytes, SampleBatch& batch) override;
    std::size_t finish(SampleBatch& batch) override;
    void report_counts(SampleBatch& batch, bool all) override;
    void restart(bool within_line) noexcept override { assembler_.restart(within_line); }
    [[nodiscard]] std::uint64_t refused() const noexcept override { return refused_ + assembler_.overlong(); }
    [[nodiscard]] std::string_view why_refused() const noexcept override {
        return "not a JSON object or array, or too long";
    }

  private:
    std::size_t parse_line(std::string_view line, SampleBatch& batch);

    const MetricRules rules_;
    LineAssembler assembler_;
    metrics::MetricSink sink_;
    metrics::JsonIntake intake_;
    std::uint64_t refused_ = 0;
    std::uint64_t overlong_seen_ = 0;
    ReportedCount lines_refused_;
    ReportedCount fields_refused_;
};

}  // namespace telegate::exec
