#pragma once

#include "core/publisher.hpp"

#include <chrono>
#include <cstddef>

namespace telegate::test {

inline const Endpoint any_port{Transport::tcp, "127.0.0.1", 0, ""};
inline constexpr std::size_t small_backlog_bytes = 64 * 1024;

[[nodiscard]] inline PublisherOptions small_backlog(std::size_t backlog_bytes_max = small_backlog_bytes) {
    PublisherOptions options;
    options.backlog_bytes_max = backlog_bytes_max;
    options.segment_bytes = 4 * 1024;
    return options;
}

[[nodiscard]] inline PublisherOptions on_threads(std::size_t io_threads) {
    PublisherOptions options;
    options.io_threads = io_threads;
    return options;
}

/// Reconnects soon after a connection was lost.
[[nodiscard]] inline PublisherOptions with_short_pauses() {
    PublisherOptions options;
    options.reconnect_first = std::chrono::milliseconds(5);
    options.reconnect_max = std::chrono::milliseconds(20);
    return options;
}

}  // namespace telegate::test
