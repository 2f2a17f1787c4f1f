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

/// The names of a channel. Constant once the id has been handed out.
struct ChannelInfo {
    DeviceId device_id;
    std::string device;   // topic part, see topic.hpp
    std::string channel;  // topic part
    std::string unit;     // UCUM-like text, "" for none
    std::string topic;    // device + '/' + channel
};

/// A table of the names and units of all channels, so that a sample carries only an id.
///
/// Threads: add(), find(), add_room(), remove_room(): any, under a mutex (start-up, hot plug and settings only). All
/// others: any, without waiting.
/// Limits: channels_max entries, allocated in blocks; entries are never removed. If the table is full, or memory
/// for a channel or its rooms is exhausted, add() returns nullopt and refused() counts it.
/// Failure: add_room() may throw std::bad_alloc; nothing else fails.
class ChannelTable {
  public:
    /// Keeps data for each channel, and allocates it before the channel's id is handed out.
    class Room {
      public:
        virtual ~Room() = default;
        virtual void make_room(ChannelId channel, const ChannelInfo& info) = 0;  // may throw std::bad_alloc
    };

    static constexpr std::size_t channels_max = 65'536;  // with 64-byte topics about 16 MiB when full

    /// Adds the channel `device/channel` and returns its id. If the channel exists, returns its id and keeps its unit.
    /// Both names must be topic parts. Returns nullopt if the channel is refused.
    std::optional<ChannelId> add(DeviceId device_id, std::string_view device, std::string_view channel,
                                 std::string_view unit);

    /// Returns the id of the channel with this topic, current or not. Waits for add().
    [[nodiscard]] std::optional<ChannelId> find(const std::string& topic) const;

    /// Registers `room`, which allocates data for the existing channels now and for each new channel later. add_room()
    /// and remove_room() wait for add().
    void add_room(Room& room);
    void remove_room(Room& room) noexcept;

    /// Returns the names of a channel. `id` must come from add().
    [[nodiscard]] const ChannelInfo& at(ChannelId id) const noexcept;
    /// Sets whether the device currently has the channel. A channel that disappears keeps its id in case it returns;
    /// add() does not change this state.
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
