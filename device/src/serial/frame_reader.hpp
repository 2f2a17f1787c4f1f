#pragma once

#include "lines/byte_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The checksum at the end of a frame, computed over all bytes before it.
enum class FrameChecksum : std::uint8_t {
    none,
    sum8,   // sum of the bytes
    xor8,   // exclusive or of the bytes
    crc16,  // CRC-16 as in Modbus, low byte first
};

/// The encoding of a number in a frame.
struct FrameNumber {
    enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real };
    Kind kind = Kind::unsigned_integer;
    std::uint8_t bytes = 1;  // integers 1, 2, 4, 8; reals 4, 8
    bool little_endian = false;

    [[nodiscard]] bool operator==(const FrameNumber&) const = default;
};

/// The encodings and their names in settings. `none`: the value is not in a frame.
inline constexpr std::pair<std::string_view, std::optional<FrameNumber>> named_frame_numbers[] = {
    {"none", std::nullopt},
    {"int8", FrameNumber{FrameNumber::Kind::signed_integer, 1}},
    {"uint8", FrameNumber{FrameNumber::Kind::unsigned_integer, 1}},
    {"int16_be", FrameNumber{FrameNumber::Kind::signed_integer, 2, false}},
    {"int16_le", FrameNumber{FrameNumber::Kind::signed_integer, 2, true}},
    {"uint16_be", FrameNumber{FrameNumber::Kind::unsigned_integer, 2, false}},
    {"uint16_le", FrameNumber{FrameNumber::Kind::unsigned_integer, 2, true}},
    {"int32_be", FrameNumber{FrameNumber::Kind::signed_integer, 4, false}},
    {"int32_le", FrameNumber{FrameNumber::Kind::signed_integer, 4, true}},
    {"uint32_be", FrameNumber{FrameNumber::Kind::unsigned_integer, 4, false}},
    {"uint32_le", FrameNumber{FrameNumber::Kind::unsigned_integer, 4, true}},
    {"int64_be", FrameNumber{FrameNumber::Kind::signed_integer, 8, false}},
    {"int64_le", FrameNumber{FrameNumber::Kind::signed_integer, 8, true}},
    {"uint64_be", FrameNumber{FrameNumber::Kind::unsigned_integer, 8, false}},
    {"uint64_le", FrameNumber{FrameNumber::Kind::unsigned_integer, 8, true}},
    {"float32_be", FrameNumber{FrameNumber::Kind::real, 4, false}},
    {"float32_le", FrameNumber{FrameNumber::Kind::real, 4, true}},
    {"float64_be", FrameNumber{FrameNumber::Kind::real, 8, false}},
    {"float64_le", FrameNumber{FrameNumber::Kind::real, 8, true}}};

struct FrameChannel {
    std::string name;
    std::string unit;
    std::size_t offset = 0;  // from the first byte of the frame
    FrameNumber number;
};

/// Frames of a fixed length that start with fixed bytes.
struct FrameFormat {
    static constexpr std::size_t frame_bytes_most = 1'024;
    static constexpr std::size_t start_bytes_most = 8;

    std::string start;            // as raw bytes
    std::size_t frame_bytes = 0;  // including start and checksum
    FrameChecksum checksum = FrameChecksum::none;
    std::vector<FrameChannel> channels;
};

/// Returns the bytes of a hexadecimal text such as "AA 55" or "aa55"; nullopt if the text is not pairs of hexadecimal
/// digits.
[[nodiscard]] std::optional<std::string> to_frame_start(std::string_view hex);

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
    std::size_t feed(std::string_view bytes, SampleBatch& batch) override;
    void report_counts(SampleBatch& batch, bool all) override { refused_count_.report(batch, refused_, all); }
    /// The next bytes need not continue a frame.
    void restart(bool within_line) noexcept override;

    [[nodiscard]] std::uint64_t refused() const noexcept override { return refused_; }
    [[nodiscard]] std::string_view why_refused() const noexcept override { return why_; }
    [[nodiscard]] std::uint64_t good() const noexcept { return good_; }

  private:
    void parse_frame(SampleBatch& batch);
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
