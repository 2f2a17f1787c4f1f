#pragma once

#include "core/bytes.hpp"
#include "core/telemetry_sample.hpp"
#include "device/recording/recording_format.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate::recording {

/// Turns records into bytes, which pile up until they are taken away.
///
/// Threads: one.
/// Limits:  a record has samples_per_record_max samples; more are several records. A unit is cut to unit_bytes_max.
/// Failure: std::bad_alloc. Names that are no topic parts are an error of the caller.
class RecordingEncoder {
  public:
    /// The next record of the file has this number.
    void go_on_at(std::uint32_t number) noexcept { number_ = number; }

    /// Begins a file; number 0 is next.
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
    std::size_t begun_at_ = 0;  // of the record that is not finished
    std::uint32_t number_ = 0;
};

}  // namespace telegate::recording
