#pragma once

#include "core/bytes.hpp"
#include "core/telemetry_sample.hpp"
#include "device/recording/recording_format.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate::recording {

/// Encodes records into a byte buffer, which grows until it is cleared.
///
/// Threads: one.
/// Limits: a record holds up to samples_per_record_max samples; more samples become several records. A unit is
/// truncated to unit_bytes_max.
/// Failure: std::bad_alloc. The caller must pass names that are topic parts.
class RecordingEncoder {
  public:
    /// Sets the number of the next record in the file.
    void go_on_at(std::uint32_t number) noexcept { number_ = number; }

    /// Begins a file; the next record has number 0.
    void file_header();
    void start(const Start& start);
    void channel(const Channel& channel);
    void samples(std::span<const TelemetrySample> samples);
    void gap(const Gap& gap);
    void end(const End& end);

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    void clear() noexcept { bytes_.clear(); }

  private:
    void begin(RecordType type);
    void finish();
    template <class T>
    void put(T number);
    void put_bytes(Bytes bytes);
    void put_one(const TelemetrySample& sample);

    std::vector<std::byte> bytes_;
    std::size_t begun_at_ = 0;  // where the unfinished record begins
    std::uint32_t number_ = 0;
};

}  // namespace telegate::recording
