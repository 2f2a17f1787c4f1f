#pragma once

#include "service_messages.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace telegate::tail {

using Time = std::chrono::steady_clock::time_point;

/// How long is waited for what.
struct Patience {
    /// Services that are not reachable: after that, what is missing is lost.
    std::chrono::milliseconds unreachable{2'000};
    /// Services that are reachable and do not help.
    std::chrono::milliseconds silent{10'000};
    /// One answer, at first; doubled each time that none comes.
    std::chrono::milliseconds answer{1'000};
    /// After a connection was made: one more snapshot, for what was published before the subscription was in force.
    std::chrono::milliseconds second_look{500};
    /// What the last snapshot shows and is on its way live, before it is asked for.
    std::chrono::milliseconds on_its_way{100};
};

/// When the gateway's services are asked, whether they have answered, and when there is no hope. Pure: is told the
/// time.
///
/// Threads: one. Limits: one request at a time. Failure: std::bad_alloc.
class RequestSchedule {
  public:
    static constexpr Time never = Time::max();

    explicit RequestSchedule(const Patience& patience) noexcept : patience_(patience) {}

    void live_up(Time now) noexcept;
    void live_down() noexcept;
    void services_up() noexcept;
    void services_down(Time now) noexcept;
    [[nodiscard]] bool is_live_up() const noexcept { return is_live_up_; }

    // A second look: one more snapshot, some time after a connection was made.
    void look_again(Time now) noexcept { second_look_ = now + patience_.second_look; }
    void drop_second_look() noexcept { second_look_ = never; }
    /// Whether it is due; once.
    [[nodiscard]] bool take_second_look(Time now) noexcept;

    /// Whether the time for the answer is over; then the request is forgotten.
    [[nodiscard]] bool take_missing_answer(Time now) noexcept;
    /// The request that the answer is for; nullopt for any other.
    [[nodiscard]] std::optional<Request> take_answered(std::uint64_t id);
    [[nodiscard]] bool is_in_flight() const noexcept { return in_flight_.has_value(); }
    [[nodiscard]] bool is_in_flight(Request::Kind kind) const noexcept {
        return in_flight_ && in_flight_->kind == kind;
    }
    void forget() noexcept { in_flight_.reset(); }

    [[nodiscard]] bool may_ask(Time now) const noexcept;
    /// Gives it its id.
    [[nodiscard]] const Request& ask(Request request, Time now);
    void ask_at_once() noexcept { ask_after_ = Time::min(); }
    void ask_after(Time time) noexcept { ask_after_ = time; }
    /// The services have helped, or said that they will.
    void note_progress(Time now) noexcept { progress_at_ = now; }
    void note_help(Time now) noexcept;
    /// They have answered and not helped: asks again a little later, then later still.
    void note_empty_answer(Time now) noexcept;

    /// To be called now and then: whether something is needed. Says whether there is no hope for it: a gateway that is
    /// away may come back and help, so only while its publish endpoint is there.
    [[nodiscard]] bool is_hopeless(bool is_needed, Time now) noexcept;
    void end_need() noexcept { needed_since_ = never; }
    /// When something is due, if nothing comes before. `wants`: there is something to ask for.
    [[nodiscard]] Time next_turn(bool wants, bool is_needed) const noexcept;

  private:
    [[nodiscard]] Time hope_ends(Time began) const noexcept;

    const Patience patience_;
    bool is_live_up_ = false;
    bool are_services_up_ = false;
    std::optional<Request> in_flight_;
    std::uint64_t last_id_ = 0;
    unsigned answers_missing_ = 0;  // in a row
    unsigned empty_answers_ = 0;    // in a row
    Time answer_due_ = never;
    Time ask_after_ = Time::min();
    Time second_look_ = never;
    Time needed_since_ = never;
    Time progress_at_ = Time::min();
    Time live_up_at_ = Time::min();
    Time services_down_at_ = Time::min();
};

}  // namespace telegate::tail
