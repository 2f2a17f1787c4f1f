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

/// The channels of a device whose fields name themselves. A channel comes to be with the first field of its name, and
/// stays. Names that are the same topic part (to_topic_part) share a channel.
///
/// Threads: the one that reads the device.
/// Limits:  channels_max names, which a device with broken lines would otherwise fill the channel table with. Fields
///          with other names give no samples and are counted. Only a new name allocates.
/// Failure: std::bad_alloc for a new name.
class ChannelSet {
  public:
    explicit ChannelSet(std::size_t channels_max);

    /// No field gets the channel of this name: the driver itself has it.
    void reserve(std::string name);
    /// The channel of a field; none, and counted, when there is no room for it, or its name is reserved.
    SampleBatch::Channel channel(SampleBatch& batch, std::string_view name, std::string_view unit = {});
    /// A sample of the field in its channel; without a value: quality bad.
    void add(SampleBatch& batch, const LineField& field);

    /// Fields that had no room, or a reserved name.
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
