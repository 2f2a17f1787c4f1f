#pragma once

#include "config/message_format.hpp"
#include "encode/notice.hpp"
#include "encode/tags.hpp"

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

/// Writes samples and gap notices in one of the formats of docs/wire.md. Threads: one. Limits and failure: those of the
/// encoder of the format.
class SampleWriter {
  public:
    SampleWriter() = default;
    SampleWriter(const SampleWriter&) = delete;
    SampleWriter& operator=(const SampleWriter&) = delete;
    virtual ~SampleWriter() = default;

    /// Returns the buffer size that write() needs.
    [[nodiscard]] virtual std::size_t bytes_max(const TelemetrySample& sample) = 0;
    virtual std::size_t write(const TelemetrySample& sample, char* out) = 0;
    virtual void append(const GapNotice& notice, std::string& out) = 0;
};

/// `format` must not be block.
[[nodiscard]] std::unique_ptr<SampleWriter> make_sample_writer(MessageFormat format, const ChannelTable& channels,
                                                               std::int64_t epoch_ms, const Tags& tags);

}  // namespace telegate
