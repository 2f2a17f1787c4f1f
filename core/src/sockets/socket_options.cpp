#include "core/socket_options.hpp"

#include "core/publisher.hpp"
#include "sockets/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace telegate {
namespace {

using std::chrono::milliseconds;

template <class Value>
struct Range {
    std::string_view option;
    Value value;
    Value least;
    Value most;
};

constexpr std::size_t kib = 1024;
constexpr std::size_t gib = kib * kib * kib;

/// The highest default limit on open descriptors per process.
constexpr std::size_t connections_most = kib * kib;
/// Far more than any machine has, or a quarter of all addresses: too small for sums of sizes to overflow.
constexpr auto waiting_bytes_most = static_cast<std::size_t>(
    std::min<std::uint64_t>(std::uint64_t{kib} * gib, std::numeric_limits<std::size_t>::max() / 4 + 1));
/// The most that the index can number.
constexpr std::size_t subscriptions_most = gib;
/// More cores than any machine can spare for one socket.
constexpr std::size_t io_threads_most = 64;
constexpr milliseconds pause_most = std::chrono::hours(24);

std::string text(std::size_t value) {
    return std::to_string(value);
}

std::string text(milliseconds value) {
    return std::to_string(value.count()) + " ms";
}

template <class Value>
void require(std::initializer_list<Range<Value>> ranges) {
    for (const Range<Value>& range : ranges) {
        if (range.value < range.least || range.value > range.most) {
            throw std::invalid_argument(std::string(range.option) + " is out of range: " + text(range.value) +
                                        "; must be " + text(range.least) + " to " + text(range.most));
        }
    }
}

}  // namespace

const SocketOptions& check_options(const SocketOptions& options) {
    if (!options.identity.empty()) {
        check_identity(options.identity);
    }
    require<std::size_t>({
        {"sessions_max", options.sessions_max, 1, connections_most},
        {"handshakes_max", options.handshakes_max, 1, connections_most},
        {"handshakes_per_address_max", options.handshakes_per_address_max, 1, connections_most},
        {"backlog_bytes_max", options.backlog_bytes_max, 1, waiting_bytes_most},
        {"message_bytes_max", options.message_bytes_max, 256, gib},
        {"frames_per_message_max", options.frames_per_message_max, 1, kib * kib},
        {"segment_bytes", options.segment_bytes, 256, 16 * kib * kib},
        {"receive_buffer_bytes", options.receive_buffer_bytes, 256, limits::read_bytes_per_turn},
    });
    require<milliseconds>({
        {"handshake_time_max", options.handshake_time_max, milliseconds(1), pause_most},
        {"heartbeat_interval", options.heartbeat_interval, milliseconds(0), pause_most},
        {"heartbeat_timeout", options.heartbeat_timeout, milliseconds(10), milliseconds(65'000)},
        {"reconnect_max", options.reconnect_max, milliseconds(1), pause_most},
        {"reconnect_first", options.reconnect_first, milliseconds(1), options.reconnect_max},
    });
    return options;
}

const PublisherOptions& check_options(const PublisherOptions& options) {
    check_options(static_cast<const SocketOptions&>(options));
    require<std::size_t>({
        {"subscriptions_max", options.subscriptions_max, 1, subscriptions_most},
        {"subscriptions_per_peer_max", options.subscriptions_per_peer_max, 1, subscriptions_most},
        {"subscription_bytes_per_peer_max", options.subscription_bytes_per_peer_max, 1, waiting_bytes_most},
        {"io_threads", options.io_threads, 1, io_threads_most},
    });
    return options;
}

}  // namespace telegate
