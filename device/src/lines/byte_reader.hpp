#pragma once

#include "device/sample_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Turns the bytes of a device into samples: lines (LineReader, JsonReader) or frames (FrameReader).
///
/// Threads: the constructor any; all other functions the thread that reads the device.
/// Failure: the constructor throws std::invalid_argument for an invalid format; feed() and finish() throw
/// std::bad_alloc for a new channel.
class ByteReader {
  public:
    virtual ~ByteReader() = default;

    /// Declares the channels that are known before the first line or frame.
    virtual void open(SampleBatch& batch) = 0;
    /// See Driver::later_channels().
    [[nodiscard]] virtual std::optional<std::vector<std::string>> later_channels() const = 0;
    /// Adds samples of all lines or frames that end in `bytes`. Returns the number of valid ones.
    virtual std::size_t feed(std::string_view bytes, SampleBatch& batch) = 0;
    /// Handles the end of the input: an unterminated last line counts as a line. Returns the number of valid lines.
    virtual std::size_t finish(SampleBatch& /*batch*/) { return 0; }
    /// Adds the counts that have changed since the last report, or all of them.
    virtual void report_counts(SampleBatch& batch, bool all) = 0;
    /// Drops an incomplete line or frame. With `within_line`, the bytes up to the next line end are also dropped.
    virtual void restart(bool within_line) noexcept = 0;

    /// Returns the number of lines or frames that did not match the format or were too long.
    [[nodiscard]] virtual std::uint64_t refused() const noexcept = 0;
    /// Returns why the last line or frame was refused; "" if none was.
    [[nodiscard]] virtual std::string_view why_refused() const noexcept = 0;
    /// Returns the number of lines that are not relevant.
    [[nodiscard]] virtual std::uint64_t ignored() const noexcept { return 0; }
};

/// A count in a channel of its own.
struct ReportedCount {
    SampleBatch::Channel channel = SampleBatch::Channel::none;
    std::int64_t reported = -1;  // -1: not reported yet

    /// Adds a sample if the count has changed since the last report, or `always`.
    void report(SampleBatch& batch, std::uint64_t count, bool always) {
        const auto value = static_cast<std::int64_t>(count);
        if (always || value != reported) {
            reported = value;
            batch.add(channel, value);
        }
    }
};

}  // namespace telegate
