#pragma once

#include "device/sample_batch.hpp"
#include "lines/line_fields.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The channels of a device that are created from field names. The first field with a new name creates a channel, which
/// is never removed. Names with the same topic part (to_topic_part) share a channel.
///
/// Threads: the one that reads the device.
/// Limits: channels_max names, so that a device with corrupt lines does not fill the channel table. Fields with further
/// names produce no samples and are counted. Only a new name allocates.
/// Failure: std::bad_alloc for a new name.
class ChannelSet {
  public:
    explicit ChannelSet(std::size_t channels_max);

    /// Reserves the name of a channel of the driver itself, so that no field uses it.
    void reserve(std::string name);
    /// Returns the channel of a field. Returns none, and counts the field, if the limit is reached or its name is
    /// reserved.
    SampleBatch::Channel channel(SampleBatch& batch, std::string_view name, std::string_view unit = {});
    /// Adds a sample of the field to its channel; a field without a value gets quality bad.
    void add(SampleBatch& batch, const LineField& field);

    /// Returns the number of fields refused because of the limit or a reserved name.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::size_t size() const noexcept { return channels_.size(); }
    [[nodiscard]] std::size_t channels_max() const noexcept { return channels_max_; }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };

    const std::size_t channels_max_;
    std::unordered_map<std::string, SampleBatch::Channel, Hash, std::equal_to<>> channels_;
    std::vector<std::string> reserved_;  // topic parts
    std::uint64_t refused_ = 0;
};

}  // namespace telegate
