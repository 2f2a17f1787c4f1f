#pragma once

#include "crossing.hpp"
#include "holding.hpp"
#include "pacing.hpp"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace telegate::perf {

/// One queue in one way of use.
struct Contender {
    const char* name;
    bool bulk;
    Crossing (*cross)(const char* name, const CrossingWork& work);
    std::vector<std::int64_t> (*pace)(const PacingWork& work) = nullptr;  // these two with TelemetrySample only,
    double (*hold)(const HoldingWork& work) = nullptr;                    // and in one way for each queue
};

template <class Engine, class Sample>
[[nodiscard]] Contender single(const char* name) {
    return {name, false, cross<Engine, Sample>};
}
template <class Engine, class Sample>
[[nodiscard]] Contender bulk(const char* name) {
    return {name, true, cross<Engine, Sample>};
}
/// Its latency and memory are measured too.
template <class Engine, class Sample>
[[nodiscard]] Contender watched_single(const char* name) {
    Contender contender = single<Engine, Sample>(name);
    if constexpr (std::is_same_v<Sample, TelemetrySample>) {
        contender.pace = pace<Engine>;
        contender.hold = hold<Engine>;
    }
    return contender;
}

/// Those that can have so many producers, for TelemetrySample, InlineTextSample or StringSample. A BoundedQueue does
/// not hold the last.
template <class Sample>
[[nodiscard]] std::vector<Contender> contenders(std::size_t producers);

/// None where it is not installed.
template <class Sample>
[[nodiscard]] std::optional<Contender> readerwriterqueue_contender();

}  // namespace telegate::perf
