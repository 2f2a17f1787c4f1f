#include "session/slow_reader.hpp"

#include "core/limits.hpp"
#include "zmtp/frame.hpp"

#include <array>
#include <utility>

namespace telegate {

SlowReader::SlowReader(Outbox& outbox, std::uint64_t id, const LossHooks& hooks)
    : outbox_(outbox), id_(id), hooks_(hooks), hear_([this](const LostRun& run) { hear(run); }) {
    if (hooks_.lost) {
        outbox_.backlog_.set_on_loss(hear_);
    }
}

void SlowReader::set_terms(std::shared_ptr<const DeliveryTerms> terms, std::size_t bytes_max) {
    terms_ = std::move(terms);
    bytes_max_ = bytes_max;
    update_refusing();
}

void SlowReader::update_refusing() noexcept {
    outbox_.backlog_.set_refusing_when_full(policy() == SlowPolicy::drop_newest && !slow_ahead_);
}

/// A blocking subscriber may exceed its limit by as much as one batch may add.
std::uint64_t SlowReader::behind_max() const noexcept {
    return policy() == SlowPolicy::block ? bytes_max_ + limits::block_bytes_more : bytes_max_;
}

bool SlowReader::is_over(std::uint64_t log_end) const noexcept {
    const auto oldest = outbox_.backlog().oldest_position();
    return oldest && *oldest + behind_max() < log_end;
}

/// Refusing must start at the beginning of a segment, so it cannot wait.
bool SlowReader::can_be_over() const noexcept {
    return policy() == SlowPolicy::drop_oldest || policy() == SlowPolicy::conflate;
}

std::uint64_t SlowReader::log_end_max() const noexcept {
    const auto oldest = outbox_.backlog().oldest_position();
    return oldest ? *oldest + bytes_max_ : UINT64_MAX;
}

bool SlowReader::keep_within(std::uint64_t log_end) {
    if (policy() == SlowPolicy::disconnect) {
        return false;
    }
    if (outbox_.backlog_.refuses()) {
        return true;  // until it has read the pending messages, even if the policy has changed
    }
    if (policy() == SlowPolicy::conflate) {
        conflate();
    } else if (policy() == SlowPolicy::drop_newest && !slow_ahead_) {
        outbox_.backlog_.set_refusing(true);
    } else {
        outbox_.drop_before(log_end - behind_max());
    }
    return true;
}

void SlowReader::expire(AgeMarks::Time now) {
    const AgeMarks::Old old = terms_->marks.published_before(now - terms_->delivery.backlog_age_max);
    if (old.up_to_tick == 0) {
        return;
    }
    outbox_.settle();
    const LossReason before = std::exchange(reason_, LossReason::expired);
    outbox_.lose(LossReason::expired, outbox_.backlog_.drop_older(old.before_position, old.up_to_tick));
    reason_ = before;
    outbox_.release_if_empty();
}

bool SlowReader::keeps_apart() const noexcept {
    return outbox_.backlog().refuses() || outbox_.backlog().has_own();
}

std::size_t SlowReader::bytes_apart() const noexcept {
    const Backlog& backlog = outbox_.backlog();
    return backlog.refuses() ? backlog.bytes() : backlog.own_bytes();
}

void SlowReader::drop_pending() {
    outbox_.settle();
    outbox_.lose(LossReason::slow, outbox_.backlog_.drop_to(0));
    left_at_conflation_ = 0;
    outbox_.release_if_empty();
}

void SlowReader::record_loss_behind() {
    if (outbox_.backlog().refuses()) {
        slow_behind_ = true;
    } else if (hooks_.write_notices) {
        drop_pending();
        slow_ahead_ = true;
        update_refusing();
    }
}

bool SlowReader::add(std::string_view topic, std::string_view payload, const std::optional<SampleRange>& samples) {
    outbox_.settle();
    Backlog& backlog = outbox_.backlog_;
    const std::array frames{topic, payload};
    const std::size_t bytes = zmtp::message_bytes(frames);
    const bool has_room = backlog.empty() || (backlog.has_run() && backlog.bytes() + bytes <= bytes_max_);
    if (backlog.refuses() || !has_room) {
        ++outbox_.matched_;
        outbox_.lose(LossReason::slow, 1);
        return false;
    }
    zmtp::write_message(outbox_.log_.prepare(bytes, sizeof(LoggedSamples)), frames);
    const Slice message = outbox_.log_.commit(bytes, samples);
    outbox_.lose(LossReason::slow, backlog.add_own(message, terms_->marks.tick()));
    ++outbox_.matched_;
    return true;
}

/// Messages left by the last conflation are checked again only when as many new ones have arrived, so each message is
/// checked about twice, however often a little space becomes free.
bool SlowReader::is_due_to_conflate() const noexcept {
    if (!was_full_ || policy() != SlowPolicy::conflate || outbox_.backlog().refuses()) {
        return false;
    }
    const std::uint64_t fresh = outbox_.matched() - matched_at_conflation_;
    return fresh > 0 && fresh >= left_at_conflation_;
}

void SlowReader::begin_write() {
    if (is_due_to_conflate()) {
        conflate();
    }
}

void SlowReader::conflate() {
    outbox_.settle();
    Backlog& backlog = outbox_.backlog_;
    const auto tick_at = [this](std::uint64_t position) {
        return terms_->marks.tick_at(position);
    };
    outbox_.lose(LossReason::conflated, backlog.conflate(outbox_.log_, tick_at));
    outbox_.lose(LossReason::slow, backlog.drop_to(bytes_max_));
    matched_at_conflation_ = outbox_.matched_;
    left_at_conflation_ = backlog.messages();
    outbox_.release_if_empty();
}

void SlowReader::hear(const LostRun& run) {
    if (reason_ == LossReason::expired) {
        expired_ahead_ = true;
    } else if (outbox_.backlog_.refuses()) {
        slow_behind_ = true;
    } else {
        slow_ahead_ = true;
        update_refusing();
    }
    hooks_.lost(id_, run, reason_);
}

void SlowReader::write_notices() {
    Backlog& backlog = outbox_.backlog_;
    const bool is_behind = backlog.refuses() && backlog.empty();
    if ((!is_behind && !has_gap_ahead()) || backlog.is_under_way()) {
        return;
    }
    bool is_more = false;
    if (hooks_.write_notices && (has_gap_ahead() || slow_behind_)) {
        NoticeWriter writer;
        writer.reports_[static_cast<std::size_t>(LossReason::slow)] = is_behind || !backlog.refuses();
        writer.reports_[static_cast<std::size_t>(LossReason::expired)] = true;
        is_more = hooks_.write_notices(id_, writer) && writer.messages_ > 0;
        if (writer.messages_ > 0) {
            outbox_.matched_ += writer.messages_;
            backlog.put_first(std::move(writer.wire_), writer.messages_);
        }
    }
    if (is_more) {
        return;
    }
    slow_ahead_ = false;
    expired_ahead_ = false;
    if (is_behind) {
        slow_behind_ = false;
        backlog.set_refusing(false);
    }
    update_refusing();
}

}  // namespace telegate
