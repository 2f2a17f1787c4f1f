#pragma once

#include "device/line_format.hpp"
#include "device/sample_batch.hpp"
#include "lines/channel_set.hpp"
#include "lines/line_assembler.hpp"
#include "lines/line_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Bytes of a device that prints lines in, samples out: a LineAssembler, a LineParser and a ChannelSet in a row, with
/// their books. Channels: those of the fields, `lines.refused`, and `fields.refused` once there is one.
///
/// Threads: the constructor any; all else the one that reads the device.
/// Limits:  those of its parts. Each field of each line is a sample.
/// Failure: the constructor throws std::invalid_argument (make_line_parser); take() std::bad_alloc for a new channel.
class LineReader {
  public:
    LineReader(const LineFormat& format, LineLimits limits);

    /// Declares what is known before the first line.
    void open(SampleBatch& batch);
    /// As Driver::later_channels().
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const;
    /// Samples of all lines that end in `bytes`, with the time that the batch has. Returns how many lines were good.
    std::size_t take(std::string_view bytes, SampleBatch& batch);
    /// The source has ended: what has come since the last line end is a line. Returns how many lines were good.
    std::size_t finish(SampleBatch& batch);
    /// The counters that have changed since they were last told, or all of them.
    void tell_books(SampleBatch& batch, bool all = false);

    /// What comes next begins a line; or is somewhere within one, whose rest does not count.
    void begin_line() noexcept { assembler_.clear(); }
    void skip_line() noexcept { assembler_.skip_line(); }

    [[nodiscard]] std::uint64_t good() const noexcept { return good_; }
    [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }
    /// Not in the format, or too long.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_ + assembler_.overlong(); }
    [[nodiscard]] std::uint64_t fields_refused() const noexcept { return channels_.refused(); }
    /// Why the last one was; "" if none was.
    [[nodiscard]] const std::string& why_refused() const noexcept { return why_; }

  private:
    static constexpr std::size_t name_bytes_told = 40;  // in a message

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
    std::uint64_t refused_told_ = 0;
    std::uint64_t fields_refused_told_ = 0;
    bool told_ = false;  // lines.refused has had a sample
    SampleBatch::Channel refused_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel fields_refused_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate
