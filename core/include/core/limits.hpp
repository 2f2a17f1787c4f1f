#pragma once

#include <chrono>
#include <cstddef>

/// Every number that a peer could make grow, with the reason for its bound.
namespace telegate::limits {

/// One incoming frame or message of a publisher. Only subscriptions and commands come in, and a topic is short.
inline constexpr std::size_t publisher_message_bytes_max = 64 * 1024;

/// One incoming message of the other sockets, in all. Room for it is made as it arrives, never as it is announced.
inline constexpr std::size_t message_bytes_max = 64 * 1024 * 1024;

/// Frames of one incoming message, so that endless small ones are cut before their number costs memory.
inline constexpr std::size_t frames_per_message_max = 1'024;

/// A command after the handshake. SUBSCRIBE is the longest that we know.
inline constexpr std::size_t command_bytes_max = 2 * 1024;

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

/// Subscriptions of all peers together. A million of usual ones cost under 200 MB.
inline constexpr std::size_t subscriptions_max = 1'000'000;

/// Bytes of all different prefixes together, so that a million of the longest kind cannot cost 1 GiB.
inline constexpr std::size_t subscription_bytes_total_max = 64 * 1024 * 1024;

/// Sessions of one socket, handshaken or not. Each costs a descriptor and about 2 KiB. At the limit a newcomer takes
/// the place of the oldest handshake, or of a connection whose identity was taken over.
inline constexpr std::size_t sessions_max = 1'024;

/// Sessions that have not finished their handshake; above it the oldest gives way to the newcomer. Enough for all
/// subscribers of a site to come back at the same moment.
inline constexpr std::size_t handshakes_max = 512;

/// The same from one IP address, so that one host's silent connections cannot crowd out the others.
inline constexpr std::size_t handshakes_per_address_max = 256;

/// From accept to the end of the handshake, in all, however the bytes trickle.
inline constexpr std::chrono::milliseconds handshake_time_max{10'000};

/// How far the log may run ahead of the slowest subscriber before that one loses its oldest messages.
/// All subscribers share the log, so this bounds what waits for them together, but for one message and what they are in
/// the middle of, see rest_bytes_max and held_bytes_max. At 100,000 samples/s about a second.
inline constexpr std::size_t backlog_bytes_max = 16 * 1024 * 1024;

/// Stretches of the log that wait for one subscriber, 24 bytes each, so 96 KiB at most; the memory goes back after it
/// has caught up a few times. Reached by sparse subscriptions only, and still four times libzmq's default of 1,000
/// messages.
inline constexpr std::size_t backlog_runs_max = 4'096;

/// What a peer is in the middle of when its messages are given up is copied up to this size, so that its part of the
/// log is free. 64 MiB for all sessions together.
inline constexpr std::size_t rest_bytes_max = 64 * 1024;

/// Whoever is in the middle of a larger message keeps that part of the log, each part once however many are in it. All
/// such parts of one publisher together take this much, or backlog_bytes_max, or one message, whichever is most; beyond
/// that, those who have been in the middle for longest lose what waits at once, and are closed in the next turn of the
/// loop. What is lent to a reader in the same process, and what CURVE has sealed, is not in it: each CURVE session that
/// sends has a copy of its own of up to 64 KiB, or of one message that is larger. With large messages and many such
/// peers, 15 MB to 100 of them are 1.5 GB: keep messages small there, or sessions_max.
inline constexpr std::size_t held_bytes_max = 64 * 1024 * 1024;

/// A subscriber that publishing waits for, see SlowPolicy::block, may be so much further behind before it loses its
/// oldest: what a publisher that asks before each batch may add with one.
inline constexpr std::size_t block_bytes_more = 1024 * 1024;

/// Subscribers that are left with the newest of each topic or with what they have, or are sent last values, keep memory
/// beside the log. All segments of one publisher together take this much and twice its largest backlog; beyond that,
/// those who keep the most give up what waits.
inline constexpr std::size_t kept_apart_bytes_max = 64 * 1024 * 1024;

/// How often the loss of a connection may cut the sending of one message before the message is given up. A peer that
/// was restarted gets it; one that closes because it is too large does not keep all others from being sent.
inline constexpr unsigned cuts_per_message_max = 3;

/// What was sent goes to the kernel at once when so much has come together, otherwise at the end of the turn. The
/// larger the piece, the faster a stream.
inline constexpr std::size_t flush_bytes = 1024 * 1024;

/// The same for long messages to peers in the process, which read the memory that was written: they find it in the
/// cache.
inline constexpr std::size_t flush_bytes_in_process = 256 * 1024;

/// On the wire; a longer message is long to peers in the process. Short ones are read byte by byte, and from another
/// core's own cache that is slower than from the one that all cores share; so they go there in large pieces, through
/// more memory than most cores' own caches hold.
inline constexpr std::size_t short_bytes_in_process = 1536;

/// Bytes written to one session in one turn of the loop, so that a fast reader cannot starve the others.
inline constexpr std::size_t write_bytes_per_turn = 4 * 1024 * 1024;

/// Bytes read from one session in one turn of the loop, for the same reason.
inline constexpr std::size_t read_bytes_per_turn = 1024 * 1024;

/// Connections accepted in one turn of the loop.
inline constexpr std::size_t accepts_per_turn = 64;

/// Frames taken from one session in one turn of the loop: a flood of small commands must not hold up the others.
inline constexpr std::size_t frames_per_turn = 4'096;

/// Command bytes (READY, PONG) that wait for one peer. A peer that pings without reading is cut here.
inline constexpr std::size_t control_bytes_max = 4 * 1024;

/// Silence after which a peer is sent PING. Costs 9 bytes each way; a dead peer is found within half a minute.
inline constexpr std::chrono::milliseconds heartbeat_interval{10'000};

/// Three PINGs without an answer.
inline constexpr std::chrono::milliseconds heartbeat_timeout{30'000};

/// The first attempt to connect again, soon enough for a restart of the peer; libzmq's default too.
inline constexpr std::chrono::milliseconds reconnect_first{100};

/// The longest pause between attempts: a peer that comes back is found within seconds.
inline constexpr std::chrono::milliseconds reconnect_max{5'000};

/// How long a connection whose identity was taken over may still be read from, or heartbeat_timeout where that is
/// shorter. It was told at once that nothing more is sent to it, so only what is on its way can still come; one that is
/// dead or malicious does not stay longer. The same holds for a peer that has gone, with messages of it still unread.
inline constexpr std::chrono::milliseconds retiring_time_max{5'000};

/// For a peer to close its side after it has received everything that a closing socket had for it. Most do so at once;
/// some client libraries never do.
inline constexpr std::chrono::milliseconds drained_time_max{250};

/// Such connections of one identity. More than one only when several successors come before the first was read.
inline constexpr std::size_t retiring_per_identity_max = 4;

/// Public keys that a CURVE server lets in; 32 bytes each.
inline constexpr std::size_t curve_clients_max = 100'000;

/// How long a loop looks for what a peer in the same process does before it goes to sleep: shorter than it takes to
/// wake a thread. Only after such a wait was short; an idle loop sleeps at once.
inline constexpr std::chrono::microseconds busy_poll_time{20};

/// Pieces of one inproc link that the receiver has not taken yet; beyond that the sender's backlog holds the rest.
inline constexpr std::size_t inproc_parts_max = 1'024;

/// Stretches of the log that a publisher has handed to one of its other threads, see PublisherOptions::io_threads, and
/// that are not with the sessions yet; beyond that they wait where they come from.
inline constexpr std::size_t lane_records_max = 1'024;

/// What one of these threads has to tell the publisher's: subscriptions, comings and goings. Beyond that its sessions
/// are not read from until it is told, so a turn's budget of frames more.
inline constexpr std::size_t shard_notes_max = 4'096;
inline constexpr std::size_t shard_note_bytes_max = 1024 * 1024;

static_assert(sessions_max * rest_bytes_max <= 64 * 1024 * 1024, "copies for slow subscribers stay under 64 MiB");
static_assert(sessions_max * backlog_runs_max * 24 <= 100 * 1024 * 1024, "slow subscribers' lists stay under 100 MiB");

}  // namespace telegate::limits
