#pragma once

#include "core/message.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace telegate::test {

/// Fills `payload` with number `seq`: 8 bytes, big-endian, then bytes that are all seq modulo 251. `bytes` from 8.
void make_payload(std::uint64_t seq, std::size_t bytes, std::string& payload);

/// What a receiver has got.
struct TrafficCounts {
    std::uint64_t messages = 0;
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;     // of all frames
    std::uint64_t damaged = 0;   // whose last frame is not what make_payload() makes
    std::uint64_t missing = 0;   // numbers left out between two messages of one stream
    std::uint64_t repeated = 0;  // numbers that did not grow
    std::uint64_t streams = 0;
    std::uint64_t last_seq = 0;  // of the stream that was heard last
};

/// Adds up what several receivers have got; the last number heard is the larger one.
void add_counts(TrafficCounts& sum, const TrafficCounts& counts) noexcept;

/// Checks numbered payloads, one row of numbers for each stream (a topic, or a peer).
///
/// Threads: one. Limits: one number per stream; tests have few. Failure: may throw std::bad_alloc.
class TrafficCheck {
  public:
    void add(const std::string& stream, const Message& message);
    [[nodiscard]] TrafficCounts counts() const noexcept;

  private:
    std::map<std::string, std::uint64_t> last_seq_;
    TrafficCounts counts_;
};

}  // namespace telegate::test
