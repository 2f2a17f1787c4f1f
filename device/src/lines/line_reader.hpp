#pragma once

#include "device/sample_batch.hpp"
#include "lines/channel_set.hpp"
#include "lines/line_assembler.hpp"
#include "lines/line_format.hpp"
#include "lines/line_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Turns bytes from a device that sends lines into samples: a LineAssembler, a LineParser and a ChannelSet in sequence,
/// with counters. Channels: those of the fields, `lines.refused`, and `fields.refused` after the first refused field.
///
/// Threads: the constructor any; all other functions the thread that reads the device.
/// Limits: those of its parts. Each field of each line is a sample.
/// Failure: the constructor throws std::invalid_argument (make_line_parser); take() throws std::bad_alloc for a new
/// channel.
class LineReader {
  public:
    LineReader(const LineFormat& format, LineLimits limits);

    /// Declares the channels that are known before the first line.
    void open(SampleBatch& batch);
    /// See Driver::later_channels().
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const;
    /// Adds samples of all lines that end in `bytes`, with the time of the batch. Returns the number of valid lines.
    std::size_t take(std::string_view bytes, SampleBatch& batch);
    /// Handles the end of the input: an unterminated last line counts as a line. Returns the number of valid lines.
    std::size_t finish(SampleBatch& batch);
    /// Adds the counters that have changed since the last report, or all of them.
    void report_counts(SampleBatch& batch, bool all = false);

    /// After begin_line(), the next byte begins a line. After skip_line(), it is within a line whose rest is dropped.
    void begin_line() noexcept { assembler_.clear(); }
    void skip_line() noexcept { assembler_.skip_line(); }

    [[nodiscard]] std::uint64_t good() const noexcept { return good_; }
    [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }
    /// Returns the number of lines that did not match the format or were too long.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_ + assembler_.overlong(); }
    [[nodiscard]] std::uint64_t fields_refused() const noexcept { return channels_.refused(); }
    /// Returns why the last line was refused; "" if none was.
    [[nodiscard]] const std::string& why_refused() const noexcept { return why_; }

  private:
    static constexpr std::size_t name_bytes_shown = 40;  // in a message

    void see_overlong(SampleBatch& batch);
    void take_line(std::string_view line, SampleBatch& batch);

    LineAssembler assembler_;
    std::unique_ptr<LineParser> parser_;
    ChannelSet channels_;
    LineFields fields_;
    std::uint64_t good_ = 0;
    std::uint64_t ignored_ = 0;
    std::uint64_t refused_ = 0;
    std::string why_;
    std::uint64_t overlong_seen_ = 0;
    std::uint64_t refused_reported_ = 0;
    std::uint64_t fields_refused_reported_ = 0;
    bool has_reported_ = false;  // lines.refused has a sample
    SampleBatch::Channel refused_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel fields_refused_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate
