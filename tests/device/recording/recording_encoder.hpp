#pragma once

#include "core/bytes.hpp"
#include "core/crc32c.hpp"
#include "core/endian.hpp"
#include "device/recording/recording_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace telegate::test {

/// Makes recordings of format version 1, which the product only reads. Threads: one. Limits: payload_bytes_max per
/// record. Failure: std::bad_alloc.
class RecordingEncoder {
  public:
    void file_header() {
        const std::size_t at = bytes_.size();
        put_bytes(std::as_bytes(std::span(recording::magic)));
        put(recording::version);
        put(crc32c(bytes().subspan(at)));
    }
    void start(const recording::Start& start) {
        begin(recording::RecordType::start);
        put(start.epoch_ms);
        put(start.time_utc_ns);
        put(start.time_mono_ns);
        finish();
    }
    void channel(const recording::Channel& channel) {
        const std::array texts{channel.device, channel.channel, channel.unit};
        begin(recording::RecordType::channel);
        put(channel.id);
        for (const std::string_view text : texts) {
            put(static_cast<std::uint16_t>(text.size()));
        }
        put(std::uint16_t{0});
        for (const std::string_view text : texts) {
            put_bytes(as_bytes(text));
        }
        finish();
    }
    /// Unused bytes of the samples must be zero.
    void samples(std::span<const TelemetrySample> samples) {
        begin(recording::RecordType::samples);
        put_bytes(std::as_bytes(samples));
        finish();
    }
    void gap(const recording::Gap& gap) {
        begin(recording::RecordType::gap);
        put(gap.channel);
        put(static_cast<std::uint32_t>(gap.reason));
        put(gap.first_seq);
        put(gap.last_seq);
        finish();
    }
    void end(const recording::End& end) {
        begin(recording::RecordType::end);
        put(end.time_utc_ns);
        put(end.time_mono_ns);
        put(end.samples);
        put(end.lost);
        finish();
    }

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

  private:
    void begin(recording::RecordType type) {
        begun_at_ = bytes_.size();
        put(std::uint64_t{0});  // checksum and payload length
        put(number_++);
        put(static_cast<std::uint16_t>(type));
        put(std::uint16_t{0});
    }
    void finish() {
        bytes_.resize((bytes_.size() + recording::alignment - 1) / recording::alignment * recording::alignment);
        std::byte* const record = bytes_.data() + begun_at_;
        store_little_endian(record + 4, static_cast<std::uint32_t>(bytes_.size() - begun_at_ - 16));
        store_little_endian(record, crc32c(bytes().subspan(begun_at_ + 4)));
    }
    template <class T>
    void put(T number) {
        std::array<std::byte, sizeof number> bytes;
        store_little_endian(bytes.data(), number);
        put_bytes(bytes);
    }
    void put_bytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

    std::vector<std::byte> bytes_;
    std::size_t begun_at_ = 0;  // where the unfinished record begins
    std::uint32_t number_ = 0;
};

}  // namespace telegate::test
