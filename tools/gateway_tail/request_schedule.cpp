#include "request_schedule.hpp"

#include <algorithm>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;

/// Services are unreachable: after this time, missing samples are lost.
constexpr milliseconds unreachable_max{2'000};
/// Services are reachable but replies do not help: after this time, missing samples are lost.
constexpr milliseconds silent_max{10'000};
/// Initial timeout for a reply; doubles after each missing reply.
constexpr milliseconds answer_timeout{1'000};
/// Delay after a connection is made until a second snapshot is requested, for samples that were published before the
/// subscription took effect.
constexpr milliseconds second_look_delay{500};
/// The reply timeout grows to at most sixteen times its initial value.
constexpr unsigned doublings_max = 4;
/// Pause after a reply without samples or gaps; doubles each time.
constexpr milliseconds pause_first{50};
constexpr milliseconds pause_max{1'000};
constexpr unsigned pause_doublings_max = 10;

}  // namespace

void RequestSchedule::live_up(Time now) noexcept {
    is_live_up_ = true;
    live_up_at_ = now;
    look_again(now);
}

void RequestSchedule::live_down() noexcept {
    is_live_up_ = false;
    drop_second_look();
}

void RequestSchedule::services_up() noexcept {
    are_services_up_ = true;
    answers_missing_ = 0;
    ask_at_once();
}

void RequestSchedule::services_down(Time now) noexcept {
    if (are_services_up_) {
        services_down_at_ = now;
    }
    are_services_up_ = false;
    forget();
}

void RequestSchedule::look_again(Time now) noexcept {
    if (is_live_up_) {
        second_look_ = now + second_look_delay;
    }
}

bool RequestSchedule::take_second_look(Time now) noexcept {
    const bool is_due = now >= second_look_;
    second_look_ = is_due ? never : second_look_;
    return is_due;
}

void RequestSchedule::drop_overdue(Time now) noexcept {
    if (in_flight_ && now >= answer_due_) {
        forget();
        ++answers_missing_;
    }
}

std::optional<Request> RequestSchedule::take_answered(std::uint64_t id) {
    if (!in_flight_ || id != in_flight_->id) {
        return std::nullopt;
    }
    answers_missing_ = 0;
    return std::exchange(in_flight_, std::nullopt);
}

bool RequestSchedule::may_ask(Time now) const noexcept {
    return are_services_up_ && is_live_up_ && !in_flight_ && now >= ask_after_;
}

const Request& RequestSchedule::ask(Request request, Time now) {
    request.id = ++last_id_;
    answer_due_ = now + answer_timeout * (1 << std::min(answers_missing_, doublings_max));
    return in_flight_.emplace(std::move(request));
}

void RequestSchedule::note_help(Time now) noexcept {
    note_progress(now);
    empty_answers_ = 0;
}

void RequestSchedule::note_empty_answer(Time now) noexcept {
    ask_after_ = now + std::min(pause_first * (1 << std::min(empty_answers_++, pause_doublings_max)), pause_max);
}

Time RequestSchedule::hope_ends(Time began) const noexcept {
    const Time silent = std::max(began, progress_at_) + silent_max;
    return are_services_up_ ? silent : std::min(silent, std::max(began, services_down_at_) + unreachable_max);
}

bool RequestSchedule::take_hopeless(bool is_needed, Time now) noexcept {
    needed_since_ = is_needed ? std::min(needed_since_, now) : never;
    if (!is_needed || !is_live_up_ || now < hope_ends(std::max(needed_since_, live_up_at_))) {
        return false;
    }
    needed_since_ = never;
    forget();
    return true;
}

Time RequestSchedule::next_turn(bool wants, bool is_needed) const noexcept {
    if (!is_live_up_) {
        return never;
    }
    Time next = second_look_;
    if (in_flight_) {
        next = std::min(next, answer_due_);
    } else if (wants && are_services_up_) {
        next = std::min(next, ask_after_);
    }
    if (is_needed) {
        next = std::min(next, hope_ends(needed_since_ == never ? Time::min() : std::max(needed_since_, live_up_at_)));
    }
    return next;
}

}  // namespace telegate::tail
