#pragma once

#include "uplink/receipts.hpp"

#include "core/clock.hpp"
#include "store/segment_format.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// Why a back end has not stored a message.
enum class Refusal : std::uint8_t {
    transient,  // the same message may be stored later
    permanent,  // of this message, whenever it is sent
    too_large,  // permanent, and a part of the message may be stored
};

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
    std::string format;   // of the payload; a quarantined sample keeps it when the settings change
    std::int64_t epoch_ms = 0;
    store::Position position = 0;      // of the block
    store::Position end_position = 0;  // where the log continues after the block
    std::uint32_t part = 0;            // index within the block
    bool is_last_part = true;
    std::uint64_t samples = 0;
    std::uint64_t missing = 0;        // samples that its gaps name, except refused ones
    std::uint64_t refused = 0;        // samples that it names as refused
    std::uint64_t omitted = 0;        // samples that the format or the settings omit
    std::int64_t utc_max_ns = 0;      // of its newest sample; 0: it has none
    BlockPlace begin;                 // of its first entry
    BlockPlace end;                   // after its last entry
    bool is_divided = false;          // a part of a message that was refused
    std::uint64_t quarantine_id = 0;  // not 0: of the quarantined sample that is sent again
    bool is_historical = false;       // may arrive after later samples

    [[nodiscard]] std::size_t bytes() const noexcept { return id.size() + payload.size(); }
    /// Returns the number of entries of the block in the message, selected or not.
    [[nodiscard]] std::uint64_t entries() const noexcept { return end.sample - begin.sample + end.gap - begin.gap; }
    [[nodiscard]] std::uint64_t all_samples() const noexcept { return samples + missing + refused + omitted; }
};

/// Samples by what happened to them, including those that gaps name.
struct DeliveryLedger {
    std::uint64_t read = 0;          // handed to the delivery
    std::uint64_t acknowledged = 0;  // stored by the back end, together with their block and everything before it
    std::uint64_t in_flight = 0;     // not counted otherwise yet
    std::uint64_t quarantined = 0;   // refused, and acknowledged as missing
    std::uint64_t gaps = 0;          // acknowledged as missing for other reasons
    std::uint64_t omitted = 0;       // not sent, because the format or the settings omit them
    std::uint64_t returned = 0;      // to be read again

    [[nodiscard]] bool balanced() const noexcept {
        return read == acknowledged + in_flight + quarantined + gaps + omitted + returned;
    }
    DeliveryLedger& operator+=(const DeliveryLedger& other) noexcept;
};

/// Counts of messages.
struct DeliveryCounts {
    std::uint64_t sent = 0;    // transmissions, including repeated ones
    std::uint64_t resent = 0;  // repeated transmissions
    std::uint64_t acknowledged = 0;
    std::uint64_t duplicates = 0;  // of the acknowledged: the back end had them already
    std::uint64_t refused = 0;     // transmissions that the back end did not store

    DeliveryCounts& operator+=(const DeliveryCounts& other) noexcept;
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
/// doubles with each failure in a row. A message may therefore arrive more than once, but is never skipped. One that is
/// refused permanently is sent until the caller replaces it: rejected() has it, and return_all() discards the window.
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
        /// The back end responds to one message after the other, so acknowledge_max restarts with each response.
        bool responds_in_order = false;
        std::chrono::milliseconds retry_min{250};
        std::chrono::milliseconds retry_max{30'000};
        std::chrono::milliseconds refused_max{2'000};  // the longest delay after a connection that was refused at once
        std::chrono::milliseconds retry_after_max{300'000};  // the longest delay that a back end can request
        std::chrono::milliseconds start_max{1'000};          // delay of the first connection, at random
        std::uint32_t refusals_max = 3;                      // permanent ones of a message, after which it is rejected
        std::uint32_t seed = 1;                              // of the random part of the delays

        /// Returns the options for the backlog, which leaves the other half of the window to new samples, so that they
        /// wait for few messages before them.
        [[nodiscard]] Options of_backlog() const {
            Options half = *this;
            half.messages_max = std::max<std::size_t>(messages_max / 2, 1);
            half.bytes_max /= 2;
            return half;
        }
    };

    /// Everything in the log before `settled` is delivered.
    Delivery(const Options& options, store::Position settled);

    [[nodiscard]] bool has_capacity() const noexcept;
    /// Adds the next message of the log.
    void add(OutgoingMessage message);
    /// Records that the log has nothing to send up to `position`, after the messages that were added. A position that
    /// is already delivered has no effect.
    void skip_to(store::Position position) noexcept;

    /// Delays the first connection, so that gateways that start together do not connect at the same time.
    void start(MonoTime now) noexcept;
    /// Whether a connection may be opened now.
    [[nodiscard]] bool may_connect(MonoTime now) const noexcept;
    void connected() noexcept;
    /// The connection has ended or could not be opened; `is_refused`: no program listens at the address. Messages in
    /// flight will be sent again.
    void disconnected(MonoTime now, bool is_refused = false) noexcept;

    /// Ends the delay after a refusal if it is over. Returns whether messages may be sent.
    bool may_send(MonoTime now) noexcept;
    /// Returns the message to send now, or null.
    [[nodiscard]] const OutgoingMessage* next(MonoTime now) noexcept;
    /// Records that next() was sent, and returns the number that its response refers to. `is_new`: it was never sent
    /// before.
    std::uint64_t sent(MonoTime now, std::uint64_t transmission = 0, bool is_new = false) noexcept;
    /// A message in flight, and when and how it was sent.
    struct InFlight {
        std::uint64_t quarantine_id = 0;  // see OutgoingMessage
        MonoTime sent_at{};
        Transmissions transmissions = {};
    };
    /// Returns nullopt if no message with this number is in flight.
    [[nodiscard]] std::optional<InFlight> in_flight(std::uint64_t number) noexcept;
    /// The back end has responded to a message, of this delivery or another one on the connection.
    void responded(MonoTime now) noexcept { last_response_ = now; }
    /// Responses to numbers that are not in flight have no effect.
    void acknowledged(std::uint64_t number, bool is_duplicate) noexcept;
    /// `retry_after`: the back end accepts nothing before; 0: unknown.
    struct RefusedAt {
        MonoTime now{};
        std::chrono::milliseconds retry_after{0};
    };
    void refused(std::uint64_t number, Refusal refusal, const RefusedAt& at) noexcept;
    /// The back end stores messages, so that the next failure counts as the first one in a row.
    void record_success() noexcept;
    [[nodiscard]] std::size_t messages_in_flight() const noexcept { return in_flight_; }

    /// Returns the messages that the back end will not store as they are, once nothing is in flight.
    [[nodiscard]] std::vector<const OutgoingMessage*> rejected() const;
    /// Discards all messages. The log has to be read again from settled().
    void return_all() noexcept;
    /// Ends the delay before the next attempt, because it will be a different one.
    void retry_now() noexcept;
    /// Discards all messages, and continues at a position.
    void move_to(store::Position position) noexcept;

    /// Whether a response is late, so that the connection must be closed.
    [[nodiscard]] bool is_overdue(MonoTime now) const noexcept;
    /// Returns when next(), may_connect() or is_overdue() may have another result, if nothing else happens;
    /// MonoTime::max(): never.
    [[nodiscard]] MonoTime due() const noexcept;

    /// Returns the position before which everything in the log is delivered. A later process may continue there.
    [[nodiscard]] store::Position settled() const noexcept { return settled_; }
    [[nodiscard]] DeliveryState state() const noexcept { return state_; }
    [[nodiscard]] bool is_empty() const noexcept { return window_.empty(); }
    [[nodiscard]] bool has_quarantined() const noexcept;
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
        std::uint32_t refusals = 0;  // permanent ones
        MonoTime sent_at{};
        Transmissions transmissions = {};
        store::Position settles = 0;  // the position up to which the log is delivered after it; 0: no other one
    };

    [[nodiscard]] Entry* find(std::uint64_t number) noexcept;
    [[nodiscard]] MonoTime deadline(const Entry& entry) const noexcept;
    [[nodiscard]] bool is_rejected(const Entry& entry) const noexcept;
    void go_back() noexcept;
    void back_off(MonoTime now, std::chrono::milliseconds longest) noexcept;
    void settle() noexcept;
    void count_partial() noexcept;

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
    MonoTime not_before_{};  // as the back end requests
    MonoTime last_response_{};
    store::Position settled_;
    std::int64_t delivered_utc_ns_ = 0;
    DeliveryLedger ledger_;
    DeliveryLedger partial_;  // of the messages before the window whose block is not delivered
    DeliveryCounts counts_;
};

}  // namespace telegate::uplink
