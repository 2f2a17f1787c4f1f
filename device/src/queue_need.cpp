#include "device/queue_need.hpp"

#include <algorithm>

namespace telegate {

QueueNeed queue_need(const DriverTraits& traits, Duration interval, std::size_t samples) noexcept {
    constexpr std::size_t readings_min = 2;  // one that is being taken, and the next one
    if (traits.streams) {
        return {samples, samples, std::max(readings_min * samples, queue_need_stream_min)};
    }
    const auto readings = static_cast<std::size_t>(queue_need_time / std::max(interval, Duration(1))) + 1;
    const std::size_t known = std::max(readings_min, readings) * samples;
    return {samples, known, std::max(known, queue_need_min)};
}

}  // namespace telegate
