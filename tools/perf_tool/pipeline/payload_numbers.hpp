#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate::perf {

/// The sequence numbers that one message carries: `count` of them, going up from `first` to `last`. There are holes
/// where the queue has lost samples.
struct PayloadNumbers {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;

    [[nodiscard]] static PayloadNumbers one(std::uint64_t number) noexcept { return {number, number, 1}; }
};

/// Finds them in the payload of a sample of LoadDriver, and looks at nothing else, so that a subscriber that checks
/// every message is not what limits a run. nullopt: the payload is not of that format.
/// Threads: any. Limits: none. Failure: none.
using ReadPayloadNumbers = std::optional<PayloadNumbers> (*)(std::string_view payload);

/// nullptr when there is no such format.
[[nodiscard]] ReadPayloadNumbers payload_reader(std::string_view format);

/// The number of the channel of a topic "load/c0042".
[[nodiscard]] std::optional<std::size_t> channel_in(std::string_view topic);

}  // namespace telegate::perf
