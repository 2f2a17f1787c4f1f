#pragma once

#include "core/bounded_queue.hpp"
#include "core/clock.hpp"
#include "core/telemetry_sample.hpp"
#include "device/driver.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace telegate {

/// The capacity of the queue that one or several devices need, in samples.
struct QueueNeed {
    std::size_t reading = 0;  // samples of one reading of each device
    std::size_t known = 0;    // the certain part of `items`: of a device that sends data on its own, one reading
    std::size_t items = 0;    // of several readings, in case the I/O thread is late

    QueueNeed& operator+=(const QueueNeed& other) noexcept {
        reading += other.reading;
        known += other.known;
        items += other.items;
        return *this;
    }
    QueueNeed& operator-=(const QueueNeed& other) noexcept {
        reading -= other.reading;
        known -= other.known;
        items -= other.items;
        return *this;
    }
    bool operator==(const QueueNeed&) const = default;
};

/// For this long, the I/O thread may be late without a loss, for example while it waits for a processor.
inline constexpr Duration queue_need_time = std::chrono::seconds(1);
/// The least need of a device, known or not: one block of memory of its part of the queue.
inline constexpr std::size_t queue_need_min = 64;
/// The need of a device that sends data on its own: nobody knows its rate in advance.
inline constexpr std::size_t queue_need_stream_min = 1'024;

/// Returns the need of a device with a reading of `samples` per `interval`, up to the largest capacity of a queue.
[[nodiscard]] inline QueueNeed queue_need(const DriverTraits& traits, Duration interval, std::size_t samples) noexcept {
    constexpr std::size_t readings_min = 2;  // one that is being taken, and the next one
    constexpr std::uint64_t capacity_max = BoundedQueue<TelemetrySample>::capacity_max;
    if (traits.streams) {
        return {samples, samples, std::max(readings_min * samples, queue_need_stream_min)};
    }
    const auto in_time = static_cast<std::uint64_t>(queue_need_time / std::max(interval, Duration(1))) + 1;
    const std::uint64_t readings = std::max<std::uint64_t>(readings_min, in_time);
    const auto known = static_cast<std::size_t>(std::min(readings * samples, capacity_max));
    return {samples, known, std::max(known, queue_need_min)};
}

}  // namespace telegate
