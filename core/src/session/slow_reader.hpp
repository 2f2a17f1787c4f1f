#pragma once

#include "core/delivery.hpp"
#include "session/age_marks.hpp"
#include "session/outbox.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace telegate {

/// The settings for the subscribers of one endpoint.
struct DeliveryTerms {
    Delivery delivery;
    AgeMarks marks;  // maintained while backlog_age_max is not 0
};

/// Applies the terms of its endpoint to one slow subscriber and has it notified of the messages it missed.
///
/// Gap notices are placed in its stream where messages are missing: before the pending messages or, while it refuses
/// new messages, after them. It never starts refusing while a gap before the pending messages is unreported, so the two
/// are not mixed up.
///
/// Threads: the reactor's thread.
/// Limits: those of the terms, and NoticeWriter::bytes_max of notices.
/// Failure: functions that drop messages or write notices may throw std::bad_alloc.
class SlowReader {
  public:
    /// Owned by the outbox; the hooks must outlive it. set_terms() must be called first.
    SlowReader(Outbox& outbox, std::uint64_t id, const LossHooks& hooks);
    SlowReader(const SlowReader&) = delete;
    SlowReader& operator=(const SlowReader&) = delete;

    /// Sets the terms. `bytes_max` is the limit that is enforced for them.
    void set_terms(std::shared_ptr<const DeliveryTerms> terms, std::size_t bytes_max);
    [[nodiscard]] const DeliveryTerms& terms() const noexcept { return *terms_; }
    [[nodiscard]] SlowPolicy policy() const noexcept { return terms_->delivery.policy; }
    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }
    /// Called when a segment of the log was opened. Returns for how many of them in succession losses are unreported,
    /// which means that it has read nothing newer.
    [[nodiscard]] unsigned count_segment() noexcept {
        segments_behind_ = has_gap_ahead() || slow_behind_ ? segments_behind_ + 1 : 0;
        return segments_behind_;
    }

    /// Returns whether it is too far behind `log_end`.
    [[nodiscard]] bool is_over(std::uint64_t log_end) const noexcept;
    /// Returns whether it may exceed its limit until the next event-loop iteration.
    [[nodiscard]] bool can_be_over() const noexcept;
    /// Returns whether enough messages have arrived since its stream was full to search for messages that are not the
    /// newest of their topic.
    [[nodiscard]] bool is_due_to_conflate() const noexcept;
    void conflate();
    /// Applies the policy of a subscriber that is over its limit. Returns false if its connection must be closed.
    [[nodiscard]] bool keep_within(std::uint64_t log_end);
    /// Drops messages that are too old.
    void expire(AgeMarks::Time now);
    /// Returns whether it keeps bytes that are further back in the log than its limit, or not in the log at all.
    [[nodiscard]] bool keeps_apart() const noexcept;
    /// Returns how many of the pending bytes may be such bytes.
    [[nodiscard]] std::size_t bytes_apart() const noexcept;
    /// Drops all pending messages that are not partly sent, and counts them as slow.
    void drop_pending();
    /// Called when messages after the pending ones were lost and reported elsewhere. Drops the pending ones as well,
    /// unless it refuses new messages, so that the gap is where the subscriber is notified of it.
    void record_loss_behind();
    /// Returns how far the log may grow while the subscriber reads nothing and stays within its limit; UINT64_MAX if it
    /// has read everything.
    [[nodiscard]] std::uint64_t log_end_max() const noexcept;

    /// Adds one message after the pending ones. Returns false if it was refused; the message is then counted as
    /// dropped.
    [[nodiscard]] bool add(std::string_view topic, std::string_view payload, const std::optional<SampleRange>& samples);

    /// Called around each write; `is_full`: the stream accepted no more.
    void begin_write();
    void end_write(bool is_full) noexcept { was_full_ = is_full; }
    /// Has the subscriber notified of the messages it missed, if its stream has reached the gap.
    void write_notices();
    /// Returns whether a gap before the pending messages is unreported.
    [[nodiscard]] bool has_gap_ahead() const noexcept { return slow_ahead_ || expired_ahead_; }

  private:
    void hear(const LostRun& run);
    void update_refusing() noexcept;
    [[nodiscard]] std::uint64_t behind_max() const noexcept;

    Outbox& outbox_;
    const std::uint64_t id_;
    const LossHooks& hooks_;
    const Backlog::LossCall hear_;
    std::shared_ptr<const DeliveryTerms> terms_;
    std::size_t bytes_max_ = 0;
    LossReason reason_ = LossReason::slow;  // for the messages being dropped
    bool slow_ahead_ = false;               // not reported yet
    bool expired_ahead_ = false;
    bool slow_behind_ = false;
    bool was_full_ = false;
    unsigned segments_behind_ = 0;
    std::uint64_t matched_at_conflation_ = 0;
    std::uint64_t left_at_conflation_ = 0;  // messages
};

}  // namespace telegate
