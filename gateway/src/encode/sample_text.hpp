#pragma once

#include "encode/json_encoder.hpp"

#include <cstdint>
#include <mutex>
#include <string>

namespace telegate {

class JsonObject;

/// Encodes samples for REST in the `json` format of subscribers. All requests share one encoder, because it has an
/// entry per channel.
///
/// Threads: any; a mutex is held while one sample is encoded.
/// Limits: those of JsonEncoder. Failure: append() may throw std::bad_alloc.
class SampleText {
  public:
    SampleText(const ChannelTable& channels, std::int64_t epoch_ms, const Tags& tags = {})
        : channels_(channels), encoder_(channels, epoch_ms, tags), epoch_ms_(epoch_ms) {}

    void append(std::string& out, const TelemetrySample& sample);
    [[nodiscard]] std::int64_t epoch_ms() const noexcept { return epoch_ms_; }
    [[nodiscard]] const ChannelTable& channels() const noexcept { return channels_; }

  private:
    const ChannelTable& channels_;
    std::mutex mutex_;
    JsonEncoder encoder_;
    const std::int64_t epoch_ms_;
};

/// Describes a sample as SampleText encodes it. Threads: one.
void describe_sample(JsonObject& out);

}  // namespace telegate
