#pragma once

#include "core/delivery.hpp"
#include "session/age_marks.hpp"
#include "session/outbox.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace telegate {

/// What holds for the subscribers of one endpoint.
struct DeliveryTerms {
    Delivery delivery;
    AgeMarks marks;  // kept while backlog_age_max is not 0
};

/// Treats one subscriber as its endpoint's terms say when it reads slowly, and has it told what it has missed.
///
/// What it misses is told in its stream where it is missing: in front of what waits, or, while it refuses what comes,
/// behind it. It never refuses while something in front has not been told, so that the two are not mixed up.
///
/// Threads: the reactor's.
/// Limits:  those of the terms, and NoticeWriter::bytes_max of notices.
/// Failure: what gives up or tells may throw std::bad_alloc.
class SlowReader {
  public:
    /// The outbox owns it; the hooks outlive it. set_terms() comes before all else.
    SlowReader(Outbox& outbox, std::uint64_t id, const LossHooks& hooks);
    SlowReader(const SlowReader&) = delete;
    SlowReader& operator=(const SlowReader&) = delete;

    /// `bytes_max`: the limit of the terms, as it is kept.
    void set_terms(std::shared_ptr<const DeliveryTerms> terms, std::size_t bytes_max);
    [[nodiscard]] const DeliveryTerms& terms() const noexcept { return *terms_; }
    [[nodiscard]] SlowPolicy policy() const noexcept { return terms_->delivery.policy; }
    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }

    /// Whether it is too far behind where the log ends.
    [[nodiscard]] bool is_over(std::uint64_t log_end) const noexcept;
    /// Whether what it does then may wait for a moment.
    [[nodiscard]] bool can_be_over() const noexcept;
    /// Whether enough has come, since its stream took no more, to look for what is not the newest of its topic.
    [[nodiscard]] bool is_due_to_conflate() const noexcept;
    void conflate();
    /// Does what the policy says when it is. False: its connection is to be closed.
    [[nodiscard]] bool keep_within(std::uint64_t log_end);
    /// Gives up what is too old.
    void expire(AgeMarks::Time now);
    /// Whether it keeps bytes that lie further back in the log than its limit, or not in the log at all.
    [[nodiscard]] bool keeps_apart() const noexcept;
    /// How much of what waits may be such bytes.
    [[nodiscard]] std::size_t bytes_apart() const noexcept;
    /// Gives up all that waits but has not begun, as slow.
    void give_up_waiting();
    /// Whether bytes_more in the log leave it within its limit.
    [[nodiscard]] bool has_room(std::uint64_t log_end, std::size_t bytes_more) const noexcept;

    /// One message behind what it has got. False: refused, and counted.
    [[nodiscard]] bool give(std::string_view topic, std::string_view payload);

    /// Around each writing; `is_full`: the stream took no more.
    void begin_write();
    void end_write(bool is_full) noexcept { was_full_ = is_full; }
    /// Has the subscriber told what it has missed, if its stream stands there.
    void tell();
    /// Whether something is missing in front of what waits that has not been told.
    [[nodiscard]] bool has_gap_ahead() const noexcept { return slow_ahead_ || expired_ahead_; }

  private:
    void hear(const LostRun& run);
    void look_at_refusing() noexcept;
    [[nodiscard]] std::uint64_t behind_max() const noexcept;

    Outbox& outbox_;
    const std::uint64_t id_;
    const LossHooks& hooks_;
    const Backlog::LossCall hear_;
    std::shared_ptr<const DeliveryTerms> terms_;
    std::size_t bytes_max_ = 0;
    LossReason reason_ = LossReason::slow;  // of what is being given up
    bool slow_ahead_ = false;               // not told yet
    bool expired_ahead_ = false;
    bool slow_behind_ = false;
    bool was_full_ = false;
    std::uint64_t matched_at_conflation_ = 0;
    std::uint64_t left_at_conflation_ = 0;  // messages
};

}  // namespace telegate
