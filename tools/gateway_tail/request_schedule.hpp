#pragma once

#include "service_messages.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace telegate::tail {

using Time = std::chrono::steady_clock::time_point;

/// Decides when to send requests to the gateway's services, whether a reply is overdue, and when to stop waiting for
/// missing samples. It has no clock: the caller passes the time.
///
/// Threads: one. Limits: one request in flight. Failure: std::bad_alloc.
class RequestSchedule {
  public:
    static constexpr Time never = Time::max();

    void live_up(Time now) noexcept;
    void live_down() noexcept;
    void services_up() noexcept;
    void services_down(Time now) noexcept;

    // One more snapshot, some time after a connection was made.
    void look_again(Time now) noexcept;
    void drop_second_look() noexcept { second_look_ = never; }
    /// Returns true once when it is due.
    [[nodiscard]] bool take_second_look(Time now) noexcept;

    /// Drops the request if its reply is overdue.
    void drop_overdue(Time now) noexcept;
    /// Returns the request that the reply is for, or nullopt if no such request is in flight.
    [[nodiscard]] std::optional<Request> take_answered(std::uint64_t id);
    [[nodiscard]] bool is_in_flight() const noexcept { return in_flight_.has_value(); }
    [[nodiscard]] bool is_in_flight(Request::Kind kind) const noexcept {
        return in_flight_ && in_flight_->kind == kind;
    }
    void forget() noexcept { in_flight_.reset(); }

    [[nodiscard]] bool may_ask(Time now) const noexcept;
    /// Assigns an id to the request and marks it as in flight.
    [[nodiscard]] const Request& ask(Request request, Time now);
    void ask_at_once() noexcept { ask_after_ = Time::min(); }
    void ask_after(Time time) noexcept { ask_after_ = time; }
    /// Records that the services returned data or promised to do so.
    void note_progress(Time now) noexcept { progress_at_ = now; }
    void note_help(Time now) noexcept;
    /// Records a reply without data. The next request is delayed, with exponential backoff.
    void note_empty_answer(Time now) noexcept;

    /// Returns true once when to stop waiting for missing samples, and then drops the request. Call it regularly with
    /// whether any samples are needed. While the publish endpoint is disconnected it returns false, because the gateway
    /// may reconnect and help.
    [[nodiscard]] bool take_hopeless(bool is_needed, Time now) noexcept;
    /// Returns when the next action is due if no event occurs before. `wants` says whether there is something to
    /// request.
    [[nodiscard]] Time next_turn(bool wants, bool is_needed) const noexcept;

  private:
    [[nodiscard]] Time hope_ends(Time began) const noexcept;

    bool is_live_up_ = false;
    bool are_services_up_ = false;
    std::optional<Request> in_flight_;
    std::uint64_t last_id_ = 0;
    unsigned answers_missing_ = 0;  // consecutive
    unsigned empty_answers_ = 0;    // consecutive
    Time answer_due_ = never;
    Time ask_after_ = Time::min();
    Time second_look_ = never;
    Time needed_since_ = never;
    Time progress_at_ = Time::min();
    Time live_up_at_ = Time::min();
    Time services_down_at_ = Time::min();
};

}  // namespace telegate::tail
