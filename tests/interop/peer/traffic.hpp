#pragma once

#include "core/message.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace telegate::test {

/// Fills `payload` with the number `seq`: 8 bytes, big-endian, followed by bytes equal to seq modulo 251. `bytes` is at
/// least 8.
void make_payload(std::uint64_t seq, std::size_t bytes, std::string& payload);

/// Counts of a receiver.
struct TrafficCounts {
    std::uint64_t messages = 0;
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;     // of all frames
    std::uint64_t damaged = 0;   // messages whose last frame was not made by make_payload()
    std::uint64_t missing = 0;   // numbers missing between two messages of a stream
    std::uint64_t repeated = 0;  // numbers that did not increase
    std::uint64_t streams = 0;
    std::uint64_t last_seq = 0;  // of the stream of the last message
};

/// Adds the counts of several receivers; the last number is the larger one.
void add_counts(TrafficCounts& sum, const TrafficCounts& counts) noexcept;

/// Checks numbered payloads; each stream (a topic or a peer) has its own numbers.
///
/// Threads: one. Limits: one number per stream; tests have few streams. Failure: may throw std::bad_alloc.
class TrafficCheck {
  public:
    void add(const std::string& stream, const Message& message);
    [[nodiscard]] TrafficCounts counts() const noexcept;

  private:
    std::map<std::string, std::uint64_t> last_seq_;
    TrafficCounts counts_;
};

}  // namespace telegate::test
