#pragma once

#include <chrono>
#include <cstddef>

/// Bounds for everything that a peer could make grow, with the reason for each bound.
namespace telegate::limits {

/// Size of one incoming frame or message of a publisher. A publisher receives only subscriptions and commands, and
/// topics are short.
inline constexpr std::size_t publisher_message_bytes_max = 64 * 1024;

/// Total size of one incoming message of the other sockets. Memory is allocated as data arrives, not by the announced
/// size.
inline constexpr std::size_t message_bytes_max = 64 * 1024 * 1024;

/// Frames in one incoming message, so that endless small frames are rejected before their number costs memory.
inline constexpr std::size_t frames_per_message_max = 1'024;

/// Size of a command after the handshake. SUBSCRIBE is the longest known command.
inline constexpr std::size_t command_bytes_max = 2 * 1024;

/// Size of READY with all its properties. Real peers send less than 100 bytes; identities and X- properties fit easily.
inline constexpr std::size_t metadata_bytes_max = 8 * 1024;

/// Properties in one READY; libzmq sends two.
inline constexpr std::size_t metadata_properties_max = 64;

/// RFC 37: an identity is 1 to 255 bytes, or empty for none.
inline constexpr std::size_t identity_bytes_max = 255;

/// RFC 37: size of the context that PING carries and PONG returns.
inline constexpr std::size_t ping_context_bytes_max = 16;

/// Size of a subscription prefix. Telegate topics are at most 129 bytes; longer prefixes never match but are common in
/// proxies.
inline constexpr std::size_t subscription_bytes_max = 1024;

/// Prefixes of one peer. A real subscriber has a handful.
inline constexpr std::size_t subscriptions_per_peer_max = 10'000;

/// Total size of all prefixes of one peer, a few hundred times what a subscriber of every channel by name needs.
inline constexpr std::size_t subscription_bytes_per_peer_max = 1024 * 1024;

/// Subscriptions of all peers together. One million typical ones use less than 200 MB.
inline constexpr std::size_t subscriptions_max = 1'000'000;

/// Total size of all different prefixes, so that one million prefixes of maximum length cannot use 1 GiB.
inline constexpr std::size_t subscription_bytes_total_max = 64 * 1024 * 1024;

/// Sessions of one socket, including those in the handshake. Each uses a descriptor and about 2 KiB. At the limit, a
/// new connection replaces an unfinished handshake or another session of the client with the most sessions.
inline constexpr std::size_t sessions_max = 1'024;

/// Sessions that have not finished their handshake. At the limit, a new connection replaces the oldest one of the
/// client with the most. Enough for all subscribers of a site to reconnect at the same moment.
inline constexpr std::size_t handshakes_max = 512;

/// Unfinished handshakes from one IP address, so that one host's idle connections cannot crowd out the others.
inline constexpr std::size_t handshakes_per_address_max = 256;

/// Total time from accept to the end of the handshake, no matter how slowly the bytes arrive.
inline constexpr std::chrono::milliseconds handshake_time_max{10'000};

/// How far the publish log may run ahead of the slowest subscriber before that subscriber loses its oldest messages.
/// All subscribers share the log, so this bounds the pending data of all of them together, except for one message and
/// the partly sent messages (see rest_bytes_max and held_bytes_max). At 100,000 samples/s, this is about one second.
inline constexpr std::size_t backlog_bytes_max = 16 * 1024 * 1024;

/// Ranges of the log that are pending for one subscriber. Each uses 24 bytes, so at most 96 KiB; the memory is released
/// after the subscriber has caught up a few times. Only sparse subscriptions reach the limit, which is still four times
/// libzmq's default of 1,000 messages.
inline constexpr std::size_t backlog_runs_max = 4'096;

/// When the messages of a peer are dropped, the rest of its partly sent message is copied if it is at most this large,
/// so that its part of the log is freed. 64 MiB for all sessions together.
inline constexpr std::size_t rest_bytes_max = 64 * 1024;

/// A peer with a larger partly sent message keeps that part of the log in memory; each part counts once, even if
/// several peers need it. All such parts of one publisher may use this much, or backlog_bytes_max, or the size of one
/// message, whichever is largest. Beyond that, the peers that are furthest behind immediately lose their pending
/// messages and are closed in the next event-loop iteration.
/// Not included: memory lent to a reader in the same process, and CURVE data (each sending CURVE session has its own
/// copy of up to 64 KiB, or of one larger message). Large messages to many such peers need much memory: 15 MB to 100
/// peers are 1.5 GB. Keep messages small in this case, or reduce sessions_max.
inline constexpr std::size_t held_bytes_max = 64 * 1024 * 1024;

/// How far a blocking subscriber (see SlowPolicy::block) may exceed its limit before it loses its oldest messages: as
/// much as a publisher that checks before each batch may add with one batch.
inline constexpr std::size_t block_bytes_more = 1024 * 1024;

/// Subscribers with conflated messages, with refused new messages or with last values use memory in addition to the
/// log. All segments of one publisher together may use this much plus twice its largest backlog for each thread; beyond
/// that, the subscribers that use the most lose their pending messages. The copies that other threads make may use as
/// much again.
inline constexpr std::size_t kept_apart_bytes_max = 64 * 1024 * 1024;

/// How many connections may be lost while one message is being sent before the message is dropped. A peer that restarts
/// gets the message; a peer that closes because the message is too large does not block all other messages.
inline constexpr unsigned cuts_per_message_max = 3;

/// Pending data is handed to the kernel as soon as this much has accumulated, otherwise at the end of the event-loop
/// iteration. Larger writes make a stream faster.
inline constexpr std::size_t flush_bytes = 1024 * 1024;

/// Like flush_bytes, but for long messages to peers in the same process. They read the memory that was written, and
/// find this much of it in the cache.
inline constexpr std::size_t flush_bytes_in_process = 256 * 1024;

/// Wire size above which a message to peers in the same process is long. Short messages are read byte by byte, which is
/// slower from another core's private cache than from the shared cache. They are therefore passed in large pieces,
/// through more memory than the private caches of most cores hold.
inline constexpr std::size_t short_bytes_in_process = 1536;

/// Bytes written to one session in one event-loop iteration, so that a fast reader cannot starve the others.
inline constexpr std::size_t write_bytes_per_turn = 4 * 1024 * 1024;

/// Bytes read from one session in one event-loop iteration, for the same reason.
inline constexpr std::size_t read_bytes_per_turn = 1024 * 1024;

/// Connections accepted in one event-loop iteration.
inline constexpr std::size_t accepts_per_turn = 64;

/// Frames taken from one session in one event-loop iteration, so that a flood of small commands cannot block the
/// others.
inline constexpr std::size_t frames_per_turn = 4'096;

/// Pending command bytes (READY, PONG) for one peer. A peer that sends PINGs without reading is closed at this limit.
inline constexpr std::size_t control_bytes_max = 4 * 1024;

/// Idle time after which a peer is sent PING. Costs 9 bytes in each direction; a dead peer is detected within half a
/// minute.
inline constexpr std::chrono::milliseconds heartbeat_interval{10'000};

/// Time without a heartbeat after which a peer is disconnected: three PINGs without a PONG.
inline constexpr std::chrono::milliseconds heartbeat_timeout{30'000};

/// Delay before the first attempt to reconnect, short enough for a restart of the peer. Also libzmq's default.
inline constexpr std::chrono::milliseconds reconnect_first{100};

/// Longest delay between attempts to reconnect, so that a peer is found within seconds after it returns.
inline constexpr std::chrono::milliseconds reconnect_max{5'000};

/// How long a connection is still read from after its identity was taken over, or heartbeat_timeout if that is shorter.
/// The peer was notified immediately that it is sent nothing more, so only data in flight can still arrive; a dead or
/// malicious peer does not stay longer. The same limit applies to a peer that has disconnected while messages from it
/// are unread.
inline constexpr std::chrono::milliseconds retiring_time_max{5'000};

/// How long a peer may take to close its side after it has received all pending data of a socket that is closing. Most
/// peers close immediately; some client libraries never do.
inline constexpr std::chrono::milliseconds drained_time_max{250};

/// Connections per identity that were taken over and are still read from. There is more than one only if several
/// successors connect before the first was read to its end.
inline constexpr std::size_t retiring_per_identity_max = 4;

/// Public keys that a CURVE server allows; 32 bytes each.
inline constexpr std::size_t curve_clients_max = 100'000;

/// How long an event loop polls for activity of a peer in the same process before it sleeps. Shorter than waking a
/// thread takes. Only used if the previous wait was short; an idle loop sleeps immediately.
inline constexpr std::chrono::microseconds busy_poll_time{20};

/// Pieces of one inproc link that the receiver has not taken yet. Further data waits in the sender's backlog.
inline constexpr std::size_t inproc_parts_max = 1'024;

/// Ranges of the log that a publisher has handed to one of its other threads (see PublisherOptions::io_threads) and
/// that have not reached the sessions. Further ranges wait on the publisher's thread.
inline constexpr std::size_t link_records_max = 1'024;

/// Pending notifications from one of these threads to the publisher's thread: subscriptions, connects and disconnects.
/// At the limit, the thread stops reading from its sessions until they are delivered, so the limit may be exceeded by
/// the frames of one iteration.
inline constexpr std::size_t shard_notes_max = 4'096;
inline constexpr std::size_t shard_note_bytes_max = 1024 * 1024;

static_assert(sessions_max * rest_bytes_max <= 64 * 1024 * 1024, "copies for slow subscribers stay under 64 MiB");
static_assert(sessions_max * backlog_runs_max * 24 <= 100 * 1024 * 1024, "slow subscribers' lists stay under 100 MiB");

}  // namespace telegate::limits
