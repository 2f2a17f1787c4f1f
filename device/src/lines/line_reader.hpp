#pragma once

#include "lines/byte_reader.hpp"
#include "lines/line_assembler.hpp"
#include "lines/line_format.hpp"
#include "lines/line_parser.hpp"
#include "metrics/metric_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Turns bytes from a device that sends lines into samples: a LineAssembler, a LineParser and a MetricSink in sequence,
/// with counters. Channels: those of the fields, `lines.refused`, and `fields.refused` after the first refused field.
///
/// Threads, Failure: those of ByteReader.
/// Limits: those of its parts. Each field of each line is a sample.
class LineReader final : public ByteReader {
  public:
    LineReader(const LineFormat& format, LineLimits limits);

    void open(SampleBatch& batch) override;
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override;
    /// The samples have the time of the batch.
    std::size_t feed(std::string_view bytes, SampleBatch& batch) override;
    std::size_t finish(SampleBatch& batch) override;
    void report_counts(SampleBatch& batch, bool all) override;
    void restart(bool within_line) noexcept override { assembler_.restart(within_line); }

    [[nodiscard]] std::uint64_t refused() const noexcept override { return refused_ + assembler_.overlong(); }
    [[nodiscard]] std::string_view why_refused() const noexcept override { return why_; }
    [[nodiscard]] std::uint64_t ignored() const noexcept override { return ignored_; }

  private:
    static constexpr std::size_t name_bytes_shown = 40;  // in a message

    void see_overlong(SampleBatch& batch);
    void parse_line(std::string_view line, SampleBatch& batch);
    void add_sample(const LineField& field, SampleBatch& batch);

    std::unique_ptr<LineParser> parser_;
    LineAssembler assembler_;
    metrics::MetricSink sink_;
    LineFields fields_;
    std::uint64_t good_ = 0;
    std::uint64_t ignored_ = 0;
    std::uint64_t refused_ = 0;
    std::string why_;
    std::uint64_t overlong_seen_ = 0;
    ReportedCount lines_refused_;
    ReportedCount fields_refused_;
};

}  // namespace telegate
