#pragma once

#include "device/sample_batch.hpp"
#include "serial/frame_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Turns bytes from a device that sends frames into samples. If a frame does not begin with the start bytes or has a
/// wrong checksum, the search for start bytes continues one byte later. The division of the bytes between calls makes
/// no difference. Channels: those of the format, and `frames.refused`.
///
/// Threads: the constructor any; all other functions the thread that reads the device.
/// Limits: keeps one frame. Nothing is allocated after open().
/// Failure: the constructor throws std::invalid_argument for an invalid format, with the name of the setting. A frame
/// with a wrong checksum is refused. Bytes outside of frames count as one refused frame, plus one for each frame
/// length.
class FrameReader {
  public:
    explicit FrameReader(const FrameFormat& format);

    void open(SampleBatch& batch);
    /// Adds samples of all frames that end in `bytes`, with the time of the batch. Returns the number of valid frames.
    std::size_t take(std::string_view bytes, SampleBatch& batch);
    /// Adds the counters that have changed since the last report, or all of them.
    void report_counts(SampleBatch& batch, bool all = false);

    /// Drops an incomplete frame: the next bytes need not continue it.
    void begin_anew() noexcept;

    [[nodiscard]] std::uint64_t good() const noexcept { return good_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// Returns why the last frame was refused; "" if none was.
    [[nodiscard]] const std::string& why_refused() const noexcept { return why_; }

  private:
    void take_frame(SampleBatch& batch);
    void refuse(std::string_view why, std::string_view bytes, SampleBatch& batch);
    void find_start(std::size_t from, SampleBatch& batch);
    [[nodiscard]] bool is_intact() const noexcept;
    void add_sample(std::size_t index, SampleBatch& batch) const;

    const FrameFormat format_;
    std::string kept_;               // begins with the start bytes, or with the part of them received so far
    bool in_step_ = false;           // the last byte before kept_ ended a frame
    std::size_t skipped_bytes_ = 0;  // since in_step_ changed, or since the last refusal
    std::vector<SampleBatch::Channel> channels_;
    SampleBatch::Channel refused_channel_ = SampleBatch::Channel::none;
    std::uint64_t good_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t refused_reported_ = 0;
    bool has_reported_ = false;  // frames.refused has a sample
    std::string why_;
};

}  // namespace telegate
