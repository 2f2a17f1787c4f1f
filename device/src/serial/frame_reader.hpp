#pragma once

#include "lines/byte_reader.hpp"
#include "serial/frame_format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Turns bytes from a device that sends frames into samples. If a frame does not begin with the start bytes or has a
/// wrong checksum, the search for start bytes continues one byte later. The division of the bytes between calls makes
/// no difference. Channels: those of the format, and `frames.refused`.
///
/// Threads: those of ByteReader.
/// Limits: keeps one frame. Nothing is allocated after open().
/// Failure: the constructor throws std::invalid_argument for an invalid format, with the name of the setting. A frame
/// with a wrong checksum is refused. Bytes outside of frames count as one refused frame, plus one for each frame
/// length.
class FrameReader final : public ByteReader {
  public:
    explicit FrameReader(const FrameFormat& format);

    void open(SampleBatch& batch) override;
    /// open() declares all channels.
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return std::vector<std::string>();
    }
    /// The samples have the time of the batch.
    std::size_t take(std::string_view bytes, SampleBatch& batch) override;
    void report_counts(SampleBatch& batch, bool all) override { refused_count_.report(batch, refused_, all); }
    /// The next bytes need not continue a frame.
    void restart(bool within_line) noexcept override;

    [[nodiscard]] std::uint64_t refused() const noexcept override { return refused_; }
    [[nodiscard]] std::string_view why_refused() const noexcept override { return why_; }
    [[nodiscard]] std::uint64_t good() const noexcept { return good_; }

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
    ReportedCount refused_count_;
    std::uint64_t good_ = 0;
    std::uint64_t refused_ = 0;
    std::string why_;
};

}  // namespace telegate
