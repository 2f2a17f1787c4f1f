#pragma once

#include "modbus/modbus_driver.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate::modbus {

inline constexpr unsigned byte_bits = 8;
inline constexpr unsigned register_bits = 16;

/// A range of addresses in one table of one unit: the addresses of a request or of a channel.
struct AddressRange {
    std::uint8_t unit = 0;
    ModbusTable table = ModbusTable::holding;
    std::uint16_t address = 0;
    std::uint16_t count = 1;  // of registers or bits

    [[nodiscard]] constexpr unsigned end() const noexcept { return unsigned{address} + count; }
};

[[nodiscard]] constexpr bool has_bits(ModbusTable table) noexcept {
    return table == ModbusTable::coil || table == ModbusTable::discrete;
}

/// One request and the channels that its response contains.
struct PlannedRead {
    AddressRange range;
    std::size_t first = 0;  // index in the plan's order
    std::size_t channels = 0;
};

struct PlanLimits {
    unsigned gap_max = 8;          // unused registers that may be read; for bits 16 times as many
    unsigned registers_max = 125;  // of one request; for bits bits_max
    static constexpr unsigned bits_max = 2'000;
};

/// Combines channels into few requests: channels of one unit and table with close addresses share a request.
///
/// Threads: one at a time.
/// Limits: at most one request per channel; a channel is never divided. Only the constructor allocates.
/// Failure: none. Each channel must fit into one request.
class ReadPlan {
  public:
    ReadPlan(std::vector<AddressRange> channels, PlanLimits limits);

    /// Returns the requests, sorted by unit, table and address.
    [[nodiscard]] std::span<const PlannedRead> reads() const noexcept { return reads_; }
    /// Returns the channels of `read`, as indices into the constructor's `channels`.
    [[nodiscard]] std::span<const std::uint32_t> channels_of(const PlannedRead& read) const noexcept {
        return std::span(order_).subspan(read.first, read.channels);
    }
    [[nodiscard]] const AddressRange& range_of(std::uint32_t channel) const noexcept { return channels_[channel]; }

    /// Replaces a request by two for half of its channels each. A channel contained in another one, such as the bit of
    /// a register, stays in its request. Returns false if the request cannot be split.
    bool split(std::size_t read) noexcept;
    /// Merges all requests again.
    void merge() noexcept;
    /// Returns whether a request has been split since merge().
    [[nodiscard]] bool is_split() const noexcept { return is_split_; }

  private:
    /// The first channels of a request that cannot be separated from each other.
    struct Parts {
        std::size_t count = 0;
        std::size_t channels = 0;
        unsigned end = 0;       // of the addresses
        unsigned part_end = 0;  // of the last part
    };

    [[nodiscard]] Parts parts_of(const PlannedRead& read, std::size_t parts_max) const noexcept;
    [[nodiscard]] bool may_join(const AddressRange& read, const AddressRange& next) const noexcept;

    const std::vector<AddressRange> channels_;
    const PlanLimits limits_;
    std::vector<std::uint32_t> order_;
    std::vector<PlannedRead> reads_;
    bool is_split_ = false;
};

}  // namespace telegate::modbus
