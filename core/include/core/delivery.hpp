#pragma once

#include "core/bytes.hpp"
#include "core/limits.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace telegate {

/// What becomes of messages for a subscriber that is over its limit.
enum class SlowPolicy : std::uint8_t {
    drop_oldest,  // it loses its oldest
    drop_newest,  // it loses what comes, until it has read all that waits: few gaps, and long ones
    disconnect,   // its connection is closed: "reads too slowly"
    block,        // Publisher::must_wait() asks the publisher to wait; one that does not makes it lose its oldest
    conflate,     // of each topic only the newest message that waits is left, also before, once its stream is full
};
[[nodiscard]] std::string_view to_string(SlowPolicy policy) noexcept;

/// Why a message that was meant for a peer is not sent to it.
enum class LossReason : std::uint8_t {
    slow,          // over its limit in bytes
    expired,       // older than its limit in age
    conflated,     // a newer one of the topic waits
    disconnected,  // it waited when the connection ended, also by SlowPolicy::disconnect
};
inline constexpr std::size_t loss_reasons = 4;
[[nodiscard]] std::string_view to_string(LossReason reason) noexcept;

/// Messages lost for one reason, and when: the first and the last time, UTC in ns; 0 while there was none.
struct Losses {
    std::uint64_t count = 0;
    std::int64_t first_utc_ns = 0;
    std::int64_t last_utc_ns = 0;
};

/// How the subscribers of one endpoint are treated when they read slowly.
struct Delivery {
    SlowPolicy policy = SlowPolicy::drop_oldest;
    /// How far one may be behind, in bytes of what is published for all: that is what it keeps in memory. Counted in
    /// whole segments, see SocketOptions::segment_bytes, and at least four; one more until the next turn of the loop.
    std::size_t backlog_bytes_max = limits::backlog_bytes_max;
    /// What has waited for longer is given up, up to a fifth or 6 ms later, whichever is more; 0: never. From 1 ms to
    /// 24 hours.
    std::chrono::milliseconds backlog_age_max{0};

    bool operator==(const Delivery&) const = default;
};

/// Takes the notices for one subscriber, which are then the next messages in its stream.
///
/// Threads: the reactor's, within the call that it is given to.
/// Limits:  bytes_max on the wire, or one message that is larger.
/// Failure: write() may throw std::bad_alloc.
class NoticeWriter {
  public:
    /// Whether losses for this reason are missing where the notices go. Others are missing later in the stream, and it
    /// is asked again there.
    [[nodiscard]] bool tells(LossReason reason) const noexcept { return tells_[static_cast<std::size_t>(reason)]; }
    /// False, and nothing is written, when it takes no more.
    [[nodiscard]] bool write(std::string_view topic, std::string_view payload);

    static constexpr std::size_t bytes_max = limits::rest_bytes_max;

  private:
    friend class SlowReader;
    std::array<bool, loss_reasons> tells_{};
    std::vector<std::byte> wire_;
    std::uint64_t messages_ = 0;
};

/// Messages that a subscriber loses together, the oldest first.
struct LostRun {
    Bytes wire;  // whole messages, at least one
    /// Where they lie among all that the publisher has published, in bytes. Runs of the same position and size, of
    /// whatever subscribers, are the same messages. nullopt: of a subscriber's own, such as those of send_to().
    std::optional<std::uint64_t> position;
};

/// Of a message of one frame the topic is empty.
struct LostMessage {
    std::string_view topic;
    std::string_view payload;
};
/// Takes the first message off the front of LostRun::wire.
[[nodiscard]] LostMessage take_message(Bytes& wire) noexcept;

/// Who hears of losses, so that each subscriber can be told in its own stream what it has missed. Neither may throw,
/// nor call the publisher.
struct LossHooks {
    /// A run is lost for the subscriber, `slow` or `expired`. The bytes last during the call. When many subscribers
    /// lose the same, it is called for each of them, one behind the other: what it does for a run is best done once.
    std::function<void(std::uint64_t id, const LostRun& run, LossReason reason)> lost;
    /// The subscriber's stream stands where messages are missing. Returns whether there is more to write: then it is
    /// asked again when this has been sent, before anything else.
    std::function<bool(std::uint64_t id, NoticeWriter& writer)> tell;
};

}  // namespace telegate
