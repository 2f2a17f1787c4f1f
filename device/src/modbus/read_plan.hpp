#pragma once

#include "device/modbus_driver.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate::modbus {

inline constexpr unsigned byte_bits = 8;
inline constexpr unsigned register_bits = 16;

/// A stretch of one table of one unit; what a request asks for and what a channel takes.
struct Stretch {
    std::uint8_t unit = 0;
    ModbusTable table = ModbusTable::holding;
    std::uint16_t address = 0;
    std::uint16_t count = 1;  // of registers or bits

    [[nodiscard]] constexpr unsigned end() const noexcept { return unsigned{address} + count; }
};

[[nodiscard]] constexpr bool has_bits(ModbusTable table) noexcept {
    return table == ModbusTable::coil || table == ModbusTable::discrete;
}

/// One request and the channels that its answer serves.
struct PlannedRead {
    Stretch stretch;
    std::size_t first = 0;  // of the plan's order
    std::size_t channels = 0;
};

struct PlanLimits {
    unsigned gap_max = 8;          // registers that may be read for nothing; of bits 16 times as many
    unsigned registers_max = 125;  // of one request; of bits bits_max
    static constexpr unsigned bits_max = 2'000;
};

/// Serves many channels with few requests: those of one unit and table that lie close to each other share one.
///
/// Threads: one at a time.
/// Limits:  never more requests than channels; a channel is never divided. Only the constructor allocates.
/// Failure: none. A channel must fit into one request.
class ReadPlan {
  public:
    ReadPlan(std::vector<Stretch> channels, PlanLimits limits);

    /// By unit, then table, then address.
    [[nodiscard]] std::span<const PlannedRead> reads() const noexcept { return reads_; }
    /// Which channels `read` serves, as indices into what the constructor was given.
    [[nodiscard]] std::span<const std::uint32_t> channels_of(const PlannedRead& read) const noexcept {
        return std::span(order_).subspan(read.first, read.channels);
    }
    [[nodiscard]] const Stretch& stretch_of(std::uint32_t channel) const noexcept { return channels_[channel]; }

    /// Replaces a request by one for each channel, or for each few of which one holds the others, such as the bits of
    /// one register. False when it serves no more than that already.
    bool split(std::size_t read) noexcept;
    /// All requests merged again.
    void merge() noexcept;

  private:
    [[nodiscard]] bool may_join(const Stretch& read, const Stretch& next) const noexcept;

    const std::vector<Stretch> channels_;
    const PlanLimits limits_;
    std::vector<std::uint32_t> order_;
    std::vector<PlannedRead> reads_;
};

}  // namespace telegate::modbus
