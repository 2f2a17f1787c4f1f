#pragma once

#include "influxdb/influxdb_options.hpp"
#include "uplink/entry_encoder.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// Encodes samples and gaps as lines of the InfluxDB line protocol. All real numbers are finite, and each channel has a
/// single field, whose type depends on the kind of the value only.
///
/// Threads, limits and failure: see EntryEncoder.
class LineEncoder final : public EntryEncoder {
  public:
    LineEncoder(InfluxdbOptions options, std::string gateway)
        : options_(std::move(options)), gateway_(std::move(gateway)) {}

    void add_channel(const ChannelInfo& info, const EntryTags& tags) override;
    [[nodiscard]] std::size_t bytes_max(const TelemetrySample& sample) const noexcept override;
    [[nodiscard]] std::size_t encode(const TelemetrySample& sample, char* to) noexcept override;
    void append_gap(const Gap& gap, std::string& to) override;

  private:
    /// The parts of the lines of a channel that do not change.
    struct Channel {
        std::string head;   // measurement and tags
        std::string field;  // name of the field, after a blank, with an equals sign
        std::string gap;    // measurement of gaps, and tags
    };

    [[nodiscard]] bool has_value(const TelemetrySample& sample) const noexcept;

    const InfluxdbOptions options_;
    const std::string gateway_;
    std::vector<Channel> channels_;
};

}  // namespace telegate::uplink
