#pragma once

#include "config/setting_slot.hpp"
#include "device/processing.hpp"
#include "device/sampler.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate {

/// The settings that every channel has.
struct ProcessingSettings {
    ProcessingSettings() { how.aggregates = {Aggregate::min, Aggregate::max, Aggregate::mean, Aggregate::last}; }

    ChannelProcessing how;                    // without the texts and the alignment of windows
    std::optional<WindowAlign> window_align;  // nullopt: auto
    std::vector<std::string> texts;           // VALUE:TEXT
};

[[nodiscard]] inline const ChannelProcessing& processing_of(const ChannelSettings& channel) {
    return part_of<ProcessingSettings>(channel.parts).how;
}

/// Returns the settings that every device has, without its name and interval.
[[nodiscard]] inline const DeviceOptions& sampling_of(const DeviceSettings& device) {
    return part_of<DeviceOptions>(device.parts);
}

/// Returns the rows of these settings.
[[nodiscard]] std::span<const SettingRow> common_rows() noexcept;

}  // namespace telegate
