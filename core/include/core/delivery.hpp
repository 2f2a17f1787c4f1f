#pragma once

#include "core/limits.hpp"
#include "core/sample_range.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// The treatment of the messages of a subscriber that exceeds its limit.
enum class SlowPolicy : std::uint8_t {
    drop_oldest,  // its oldest messages are dropped
    drop_newest,  // new messages are dropped until it has read all pending ones: few but long gaps
    disconnect,   // its connection is closed: "reads too slowly"
    block,        // Publisher::must_wait() returns true; if the caller does not wait, the oldest messages are dropped
    conflate,     // only the newest pending message of each topic is kept, even below the limit, if its stream is full
};
[[nodiscard]] std::string_view to_string(SlowPolicy policy) noexcept;

/// Why a message for a peer was not sent.
enum class LossReason : std::uint8_t {
    slow,          // the peer is over its limit in bytes
    expired,       // older than the age limit
    conflated,     // replaced by a newer message of the topic
    disconnected,  // pending when the connection ended, including with SlowPolicy::disconnect
};
inline constexpr std::size_t loss_reasons = 4;
[[nodiscard]] std::string_view to_string(LossReason reason) noexcept;

/// Messages lost for one reason, and the times of the first and the last loss in ns UTC; 0 if there was none.
struct Losses {
    std::uint64_t count = 0;
    std::int64_t first_utc_ns = 0;
    std::int64_t last_utc_ns = 0;
};

/// How slow subscribers of one endpoint are treated.
struct Delivery {
    SlowPolicy policy = SlowPolicy::drop_oldest;
    /// Maximum backlog of a subscriber, in bytes of the shared log, which it keeps in memory. Counted in whole segments
    /// (see SocketOptions::segment_bytes), at least four. May be exceeded by one segment until the next event-loop
    /// iteration.
    std::size_t backlog_bytes_max = limits::backlog_bytes_max;
    /// Messages that are pending for longer are dropped, at most a fifth of this time or 6 ms later, whichever is more.
    /// 0: never; otherwise 1 ms to 24 hours.
    std::chrono::milliseconds backlog_age_max{0};

    bool operator==(const Delivery&) const = default;
};

/// Collects notices for one subscriber, which become the next messages in its stream.
///
/// Threads: the reactor's, during the call that it is passed to.
/// Limits: bytes_max on the wire, or one larger message.
/// Failure: write() may throw std::bad_alloc.
class NoticeWriter {
  public:
    /// Returns whether messages lost for this reason are missing at this position of the stream. Other losses are
    /// missing later in the stream; LossHooks::write_notices is called again there.
    [[nodiscard]] bool reports(LossReason reason) const noexcept { return reports_[static_cast<std::size_t>(reason)]; }
    /// Returns false, without writing, if the writer is full.
    [[nodiscard]] bool write(std::string_view topic, std::string_view payload);

    static constexpr std::size_t bytes_max = limits::rest_bytes_max;

  private:
    friend class SlowReader;
    std::array<bool, loss_reasons> reports_{};
    std::vector<std::byte> wire_;
    std::uint64_t messages_ = 0;
};

/// A range of messages that a subscriber loses.
struct LostRun {
    /// The samples of the messages that were published with samples, newest first.
    std::span<const LoggedSamples> samples;
    std::size_t bytes = 0;  // of all messages in the range
    /// Position of the range in everything that the publisher has published, in bytes. Ranges with the same position
    /// and size are the same messages, even for different subscribers. nullopt for messages of one subscriber only,
    /// such as those of send_to().
    std::optional<std::uint64_t> position;
};

/// Callbacks for losses, so that each subscriber can be notified in its own stream of what it has missed. They must not
/// throw or call the publisher. With several io_threads, each is called on any of the publisher's threads, also on
/// several at the same time.
struct LossHooks {
    /// Called when a subscriber loses a range for the reason `slow` or `expired`. The run is valid during the call.
    /// If many subscribers lose the same range, it is called for each of them in succession, so processing of a range
    /// should be done once and reused.
    std::function<void(std::uint64_t id, const LostRun& run, LossReason reason)> lost;
    /// Called when the subscriber's stream reaches a position where messages are missing. Returns whether there are
    /// more notices to write; if so, it is called again when these have been sent, before anything else is sent.
    std::function<bool(std::uint64_t id, NoticeWriter& writer)> write_notices;
    /// Called with the samples of a message that Publisher::send_to() accepted for a subscriber on another thread, if
    /// that thread finds the subscriber over its limit. The message is counted as slow.
    std::function<void(std::uint64_t id, const SampleRange& samples)> refused;
};

}  // namespace telegate
