#pragma once

#include "core/clock.hpp"
#include "store/segment_format.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// A place in a block: the index of a sample and of a gap.
struct BlockPlace {
    std::uint32_t sample = 0;
    std::uint32_t gap = 0;

    auto operator<=>(const BlockPlace&) const = default;
};

/// A message for the back end: a part of one block of the log.
struct OutgoingMessage {
    std::string id;  // the same whenever the same content is sent again
    std::string payload;
    std::string subject;  // where the back end is to store it
    std::int64_t epoch_ms = 0;
    store::Position position = 0;      // of the block
    store::Position end_position = 0;  // where the log continues after the block
    std::uint32_t part = 0;            // index within the block
    bool is_last_part = true;
    std::uint64_t samples = 0;
    std::uint64_t missing = 0;    // samples that its gaps name
    std::int64_t utc_max_ns = 0;  // of its newest sample; 0: it has none
    BlockPlace begin;             // of its first entry

    [[nodiscard]] std::size_t bytes() const noexcept { return id.size() + payload.size(); }
};

/// Samples by what happened to them. Samples that a gap names count as missing, not as read.
struct DeliveryLedger {
    std::uint64_t read = 0;          // samples handed to the delivery
    std::uint64_t acknowledged = 0;  // stored by the back end
    std::uint64_t pending = 0;       // waiting, or sent and not acknowledged
    std::uint64_t missing = 0;       // named by acknowledged gaps

    [[nodiscard]] bool balanced() const noexcept { return read == acknowledged + pending; }
};

/// Counts of messages.
struct DeliveryCounts {
    std::uint64_t sent = 0;    // transmissions, including repeated ones
    std::uint64_t resent = 0;  // repeated transmissions
    std::uint64_t acknowledged = 0;
    std::uint64_t duplicates = 0;  // of the acknowledged: the back end had them already
    std::uint64_t refused = 0;     // transmissions that the back end did not store
};

enum class DeliveryState : std::uint8_t {
    down,  // no connection
    sending,
    settling,     // after a refusal: nothing is sent until all messages in flight are acknowledged or refused
    backing_off,  // nothing is sent until due()
};
[[nodiscard]] std::string_view to_string(DeliveryState state) noexcept;

/// Decides what is sent when, and what counts as delivered. It does no I/O and reads no clock: connections, responses
/// and times are passed to it.
///
/// A message remains here until the back end has acknowledged it and all messages before it. After a refusal or the end
/// of a connection, sending restarts at the oldest message without an acknowledgment (go-back-N), after a delay that
/// doubles with each failure in a row. A message may therefore arrive more than once, but is never skipped.
///
/// Threads: one.
/// Limits:  messages_max messages of bytes_max bytes, except that one message may always be added.
/// Failure: add() throws std::bad_alloc; nothing else fails.
class Delivery {
  public:
    struct Options {
        std::size_t messages_max = 64;
        std::size_t bytes_max = 2'097'152;
        std::chrono::milliseconds acknowledge_max{10'000};  // then the connection counts as broken
        std::chrono::milliseconds retry_min{250};
        std::chrono::milliseconds retry_max{30'000};
        std::uint32_t seed = 1;  // of the random part of the delays
    };

    /// Everything in the log before `settled` is delivered.
    Delivery(const Options& options, store::Position settled);

    [[nodiscard]] bool has_capacity() const noexcept;
    /// Adds the next message of the log.
    void add(OutgoingMessage message);
    /// Records that the log has nothing to send up to `position`, after the messages that were added.
    void skip_to(store::Position position) noexcept;

    /// Whether a connection may be opened now.
    [[nodiscard]] bool may_connect(MonoTime now) const noexcept;
    void connected() noexcept;
    /// The connection has ended or could not be opened. Messages in flight will be sent again.
    void disconnected(MonoTime now) noexcept;

    /// Returns the message to send now, or null.
    [[nodiscard]] const OutgoingMessage* next(MonoTime now) noexcept;
    /// Records that next() was sent, and returns the number that its response refers to.
    std::uint64_t sent(MonoTime now) noexcept;
    /// Responses to numbers that are not in flight have no effect.
    void acknowledged(std::uint64_t number, bool is_duplicate) noexcept;
    void refused(std::uint64_t number, MonoTime now) noexcept;

    /// Whether a response is late, so that the connection must be closed.
    [[nodiscard]] bool is_overdue(MonoTime now) const noexcept;
    /// Returns when next(), may_connect() or is_overdue() may have another result, if nothing else happens;
    /// MonoTime::max(): never.
    [[nodiscard]] MonoTime due() const noexcept;

    /// Returns the position before which everything in the log is delivered. A later process may continue there.
    [[nodiscard]] store::Position settled() const noexcept { return settled_; }
    [[nodiscard]] DeliveryState state() const noexcept { return state_; }
    [[nodiscard]] bool is_empty() const noexcept { return window_.empty(); }
    [[nodiscard]] const DeliveryLedger& ledger() const noexcept { return ledger_; }
    [[nodiscard]] const DeliveryCounts& counts() const noexcept { return counts_; }
    /// Returns the time of the newest sample that is delivered with all samples before it; 0: none yet.
    [[nodiscard]] std::int64_t delivered_utc_ns() const noexcept { return delivered_utc_ns_; }

  private:
    enum class Status : std::uint8_t { waiting, in_flight, acknowledged };
    struct Entry {
        OutgoingMessage message;
        Status status = Status::waiting;
        bool was_sent = false;
        MonoTime sent_at{};
    };

    [[nodiscard]] Entry* find(std::uint64_t number) noexcept;
    void go_back() noexcept;
    void back_off(MonoTime now) noexcept;
    void settle() noexcept;

    Options options_;
    std::minstd_rand random_;
    DeliveryState state_ = DeliveryState::down;
    std::deque<Entry> window_;
    std::uint64_t first_number_ = 0;  // of the first entry of the window
    std::size_t next_ = 0;            // entries before this index are not waiting
    std::size_t in_flight_ = 0;
    std::size_t bytes_ = 0;
    std::chrono::milliseconds retry_{0};  // 0: the last attempt succeeded
    MonoTime retry_at_{};
    store::Position settled_;
    store::Position skipped_to_ = 0;  // after the last entry; 0: nothing was skipped
    std::int64_t delivered_utc_ns_ = 0;
    DeliveryLedger ledger_;
    DeliveryCounts counts_;
};

}  // namespace telegate::uplink
