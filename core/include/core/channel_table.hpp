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

/// A table of the names and units of all channels, so that a sample carries only an id. The size is released after the
/// entry and the rooms of a new channel are complete; a thread that acquires it, or a sample from a queue, sees them.
///
/// Threads: add(), add_found(), crowd(), find(), add_room(), remove_room(): any, under a mutex (start-up, hot plug and
/// settings only). All others: any, without waiting.
/// Limits: channels_max entries, allocated in blocks; entries are never removed. If the table is full, a name is not a
/// topic part, or memory for a channel or its rooms is exhausted, add() returns nullopt and refused() counts it.
/// Failure: add_room() may throw std::bad_alloc; nothing else fails.
class ChannelTable {
  public:
    /// Keeps data for each channel, and allocates it before the channel's id is handed out.
    class Room {
      public:
        virtual ~Room() = default;
        virtual void make_room(ChannelId channel, const ChannelInfo& info) = 0;  // may throw std::bad_alloc
    };

    static constexpr std::size_t share_of_free = 3;
    static constexpr std::size_t channels_max = 65'536;  // with 64-byte topics about 16 MiB when full

    /// Adds the channel `device/channel` and returns its id. If the channel exists, returns its id and keeps its unit.
    /// Both names must be topic parts. Returns nullopt if the channel is refused; names from files may be anything.
    std::optional<ChannelId> add(DeviceId device_id, std::string_view device, std::string_view channel,
                                 std::string_view unit);

    /// Like add(), for a channel that a running device has found, for example in data that it receives: its device must
    /// also have less than its share, which is share_of_free times the entries that are free. One device can fill three
    /// quarters of the table, two of them three sevenths each, and so on; some are always free for the others.
    std::optional<ChannelId> add_found(DeviceId device_id, std::string_view device, std::string_view channel,
                                       std::string_view unit);

    /// The device with the most channels among those of which add_found() has refused one.
    struct Crowd {
        std::string device = {};
        std::size_t channels = 0;  // that the device has
    };
    /// Returns nullopt if no channel was refused for lack of a share. Waits for add().
    [[nodiscard]] std::optional<Crowd> crowd() const;

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

    enum class Share : unsigned char { whole, of_device };
    struct Names {
        std::string_view device;
        std::string_view channel;
        std::string_view unit;
    };
    std::optional<ChannelId> add_to(Share share, DeviceId device_id, const Names& names);
    void store(ChannelId id, ChannelInfo info);

    mutable std::mutex mutex_;  // guards add(), find() and the rooms
    std::vector<Room*> rooms_;
    std::unordered_map<std::string, ChannelId> ids_by_topic_;
    std::vector<std::size_t> channels_of_;  // by device
    std::optional<DeviceId> crowding_;      // see Crowd
    std::string crowding_name_;
    std::array<std::unique_ptr<Block>, channels_max / block_channels> blocks_;
    std::atomic<std::size_t> size_{0};
    std::atomic<std::uint64_t> refused_{0};
};

}  // namespace telegate
