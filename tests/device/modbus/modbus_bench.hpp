#pragma once

#include "device/driver_bench.hpp"
#include "device/modbus_driver.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

/// Long enough for a busy machine; for tests that do not wait for it.
inline constexpr std::chrono::milliseconds patience{10'000};
/// For tests where some units respond and others do not.
inline constexpr std::chrono::milliseconds some_patience{500};
/// For tests where no unit responds.
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

}  // namespace telegate::test
