#pragma once

#include "device/frame_format.hpp"
#include "device/sample_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Bytes of a device that sends frames in, samples out. Where a frame does not begin as it should, or its checksum is
/// wrong, the next start bytes are looked for one byte further on. How the bytes are divided between calls makes no
/// difference. Channels: those of the format, and `frames.refused`.
///
/// Threads: the constructor any; all else the one that reads the device.
/// Limits:  one frame is kept. Nothing is allocated after open().
/// Failure: the constructor throws std::invalid_argument for a format that cannot be, in the words of the settings. A
///          frame with a wrong checksum is refused; bytes that belong to no frame count as one, and as one more for
///          each length of a frame.
class FrameReader {
  public:
    explicit FrameReader(const FrameFormat& format);

    void open(SampleBatch& batch);
    /// Samples of all frames that end in `bytes`, with the time that the batch has. Returns how many were good.
    std::size_t take(std::string_view bytes, SampleBatch& batch);
    /// The counters that have changed since they were last told, or all of them.
    void tell_books(SampleBatch& batch, bool all = false);

    /// What comes next need not go on from what there is.
    void begin_anew() noexcept;

    [[nodiscard]] std::uint64_t good() const noexcept { return good_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// Why the last one was; "" if none was.
    [[nodiscard]] const std::string& why_refused() const noexcept { return why_; }

  private:
    void take_frame(SampleBatch& batch);
    void refuse(std::string_view why, std::string_view bytes, SampleBatch& batch);
    void find_start(std::size_t from, SampleBatch& batch);
    [[nodiscard]] bool is_intact() const noexcept;
    void add_sample(std::size_t index, SampleBatch& batch) const;

    const FrameFormat format_;
    std::string kept_;               // begins with the start bytes, or with as many of them as have come
    bool in_step_ = false;           // the last byte before kept_ ended a frame
    std::size_t skipped_bytes_ = 0;  // since that changed, or one was refused
    std::vector<SampleBatch::Channel> channels_;
    SampleBatch::Channel refused_channel_ = SampleBatch::Channel::none;
    std::uint64_t good_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t refused_told_ = 0;
    bool told_ = false;  // frames.refused has had a sample
    std::string why_;
};

}  // namespace telegate
