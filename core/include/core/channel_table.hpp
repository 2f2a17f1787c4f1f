#pragma once

#include "core/telemetry_sample.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// What a channel is called. Constant once its id has been handed out.
struct ChannelInfo {
    DeviceId device_id;
    std::string device;   // topic part, see topic.hpp
    std::string channel;  // topic part
    std::string unit;     // UCUM-like text, "" for none
    std::string topic;    // device + '/' + channel
};

/// Names and units of every channel, kept once so that a sample carries only a number.
///
/// Threads: add() and find() any, under a mutex (start-up, hot plug and settings only); all else any, without waiting.
/// Limits:  channels_max entries, made in blocks; entries are never removed. Beyond it, and when there is no memory for
///          a channel or for what others keep of it, add() answers nullopt and refused() counts.
/// Failure: add_room() may throw std::bad_alloc; nothing else fails.
class ChannelTable {
  public:
    /// Who keeps something for each channel, and makes room for it before anybody has the channel's id.
    class Room {
      public:
        virtual ~Room() = default;
        virtual void make_room(ChannelId channel, const ChannelInfo& info) = 0;  // may throw std::bad_alloc
    };

    static constexpr std::size_t channels_max = 65'536;  // 64 B topics: about 16 MiB when full

    /// The id of `device/channel`; the existing one when the pair is known already (its unit stays).
    /// Both names must be topic parts.
    std::optional<ChannelId> add(DeviceId device_id, std::string_view device, std::string_view channel,
                                 std::string_view unit);

    /// Returns the id of the channel with this topic, current or not. Waits for add().
    [[nodiscard]] std::optional<ChannelId> find(const std::string& topic) const;

    /// From now on each new channel has room there, and those that there are get it at once. Both wait for add().
    void add_room(Room& room);
    void remove_room(Room& room) noexcept;

    /// Any id that add() returned.
    [[nodiscard]] const ChannelInfo& at(ChannelId id) const noexcept;
    /// Whether its device has it now. A channel that has gone keeps its id, for when it comes back; add() leaves that
    /// as it is.
    void set_current(ChannelId id, bool current) noexcept;
    [[nodiscard]] bool is_current(ChannelId id) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t block_channels = 256;
    struct Block {
        std::array<ChannelInfo, block_channels> infos;
        std::array<std::atomic<bool>, block_channels> gone{};
    };

    void store(ChannelId id, ChannelInfo info);

    mutable std::mutex mutex_;  // guards add(), find() and the rooms
    std::vector<Room*> rooms_;
    std::unordered_map<std::string, ChannelId> ids_by_topic_;
    std::array<std::unique_ptr<Block>, channels_max / block_channels> blocks_;
    std::atomic<std::size_t> size_{0};  // released after the entry is complete
    std::atomic<std::uint64_t> refused_{0};
};

}  // namespace telegate
