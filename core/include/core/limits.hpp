#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Every number that a peer could make grow, with the reason for its bound.
namespace telegate::limits {

/// One incoming frame. Only subscriptions and commands come in, and a topic is short.
inline constexpr std::uint64_t frame_bytes_max = 64 * 1024;

/// READY with all its properties. Real peers send under 100 bytes; identities and X- properties fit well.
inline constexpr std::size_t metadata_bytes_max = 8 * 1024;

/// Properties in one READY; libzmq sends two.
inline constexpr std::size_t metadata_properties_max = 64;

/// RFC 37: an identity is 1 to 255 bytes, or empty for none.
inline constexpr std::size_t identity_bytes_max = 255;

/// RFC 37: the context that PING carries and PONG returns.
inline constexpr std::size_t ping_context_bytes_max = 16;

/// A subscription prefix. Our topics are at most 129 bytes; longer ones can never match but are common in proxies.
inline constexpr std::size_t subscription_bytes_max = 1024;

/// Prefixes of one peer; a real subscriber has a handful.
inline constexpr std::size_t subscriptions_per_peer_max = 10'000;

/// All prefixes of one peer together; a few hundred times what a subscriber of every channel by name needs.
inline constexpr std::size_t subscription_bytes_per_peer_max = 1024 * 1024;

/// All prefixes of all peers together: some 25 MiB of usual ones with their bookkeeping, 280 MiB of the longest.
inline constexpr std::size_t subscriptions_max = 262'144;

/// Sessions of one publisher, handshaken or not. Each costs a descriptor and about 2 KiB.
inline constexpr std::size_t sessions_max = 1'024;

/// Sessions that have not finished their handshake. Silent connections cannot fill sessions_max.
inline constexpr std::size_t handshakes_max = 128;

/// From accept to the end of the handshake, in all, however the bytes trickle.
inline constexpr std::chrono::milliseconds handshake_time_max{10'000};

/// How far the log may run ahead of the slowest subscriber before that one loses its oldest messages.
/// All subscribers share the log, so this bounds their memory together: at 100,000 samples/s about a second.
inline constexpr std::size_t backlog_bytes_max = 16 * 1024 * 1024;

/// Stretches of the log that wait for one subscriber, 24 bytes each, so 96 KiB at most; the memory goes back when it
/// has caught up. Reached by sparse subscriptions only, and still four times libzmq's default of 1,000 messages.
inline constexpr std::size_t backlog_runs_max = 4'096;

/// Bytes written to one session in one turn of the loop, so that a fast reader cannot starve the others.
inline constexpr std::size_t write_bytes_per_turn = 4 * 1024 * 1024;

/// Bytes read from one session in one turn of the loop, for the same reason.
inline constexpr std::size_t read_bytes_per_turn = 256 * 1024;

/// Connections accepted in one turn of the loop.
inline constexpr std::size_t accepts_per_turn = 64;

/// Command bytes (READY, PONG) that wait for one peer. A peer that pings without reading is cut here.
inline constexpr std::size_t control_bytes_max = 4 * 1024;

static_assert(sessions_max * backlog_runs_max * 24 <= 100 * 1024 * 1024, "slow subscribers' lists stay under 100 MiB");

}  // namespace telegate::limits
