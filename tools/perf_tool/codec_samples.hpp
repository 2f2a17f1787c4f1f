#pragma once

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// What a device of 64 channels gives in 16 ticks: the samples of a tick have one time. Always the same.
/// Threads: one. Limits: samples_max samples. Failure: may throw std::bad_alloc.
class CodecSamples {
  public:
    static constexpr std::size_t channels_max = 64;
    static constexpr std::size_t samples_max = 16 * channels_max;

    /// `values`: "few", "full", "integer", "boolean" or "text".
    explicit CodecSamples(std::string_view values);

    [[nodiscard]] const ChannelTable& channels() const noexcept { return channels_; }
    [[nodiscard]] const std::vector<TelemetrySample>& samples() const noexcept { return samples_; }

  private:
    ChannelTable channels_;
    std::vector<TelemetrySample> samples_;
};

/// The kinds of values, as one names them on the command line and in a report.
struct CodecValues {
    std::string name;
    std::string shown;
};
[[nodiscard]] const std::vector<CodecValues>& codec_values();

}  // namespace telegate::perf
