#pragma once

#include "device/driver_bench.hpp"
#include "modbus/frames.hpp"
#include "modbus/modbus_driver.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

/// A timeout for tests that do not expect one: long enough for a busy machine.
inline constexpr std::chrono::milliseconds patience{10'000};
/// A timeout for tests where some units respond and others do not.
inline constexpr std::chrono::milliseconds some_patience{500};
/// A timeout for tests where no unit responds.
inline constexpr std::chrono::milliseconds impatience{50};

[[nodiscard]] inline ModbusDriverOptions options_for(std::string endpoint, std::vector<ModbusChannel> channels,
                                                     std::chrono::milliseconds timeout = patience) {
    ModbusDriverOptions options;
    options.endpoint = std::move(endpoint);
    options.channels = std::move(channels);
    options.timeout = timeout;
    return options;
}

[[nodiscard]] inline DriverBench bench_for(ModbusDriverOptions options) {
    return DriverBench(make_modbus_driver(std::move(options)));
}

[[nodiscard]] inline std::int64_t whole(const TelemetrySample& sample) {
    REQUIRE(sample.quality == Quality::good);
    REQUIRE(sample.type == ValueType::integer);
    return sample.value.integer;
}

using FrameBytes = std::vector<std::uint8_t>;

[[nodiscard]] inline FrameBytes with_crc(FrameBytes bytes) {
    const std::uint16_t crc = modbus::crc16(bytes);
    bytes.push_back(static_cast<std::uint8_t>(crc & 0xFFU));
    bytes.push_back(static_cast<std::uint8_t>(crc >> 8U));
    return bytes;
}

}  // namespace telegate::test
