#pragma once

#include "service_messages.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate::tail {

using Time = std::chrono::steady_clock::time_point;

/// Decides what to request from the gateway's services page by page, when, and when to stop waiting for missing
/// samples. It requests pages in the order of Request::Kind. It has no clock: the caller passes the time.
///
/// Threads: one. Limits: one request in flight; epochs_max earlier epochs, one after the other. Failure:
/// std::bad_alloc.
class Requests {
  public:
    using Kind = Request::Kind;
    static constexpr Time never = Time::max();
    static constexpr std::size_t epochs_max = 64;

    /// Without prefixes, no page is requested.
    Requests(std::vector<std::string> prefixes, std::string since);

    void live_up(Time now) noexcept;
    void live_down() noexcept;
    void services_up() noexcept;
    void services_down(Time now) noexcept;

    /// Requests all pages of a kind, starting with the first one. An epoch other than 0 is an earlier one, and a replay
    /// then begins with its first sample.
    void want(Kind kind, std::int64_t epoch = 0);
    /// Requests the channels of an earlier epoch and of those after it, unless such requests are in progress.
    void want_past(std::int64_t epoch);
    void drop(Kind kind);
    [[nodiscard]] bool wants(Kind kind) const noexcept;
    /// Returns the next page, or nullopt if none is wanted.
    [[nodiscard]] std::optional<Request> page() const;
    /// Goes to the page after the reply. Returns whether it was the last one of its kind.
    [[nodiscard]] bool end_page(const Request& request, const Answer& answer);
    /// Omits a key that the gateway does not know because it is older. Returns false if the key is required.
    [[nodiscard]] bool leave_out(const Request& request, const std::string& pointer);

    /// Schedules one more snapshot, some time after a connection was made.
    void schedule_check(Time now) noexcept;
    void cancel_check() noexcept { check_at_ = never; }
    /// Returns true once when it is due.
    [[nodiscard]] bool is_check_due(Time now) noexcept;

    /// Returns whether a request may be sent. Drops the one in flight if its reply is overdue.
    [[nodiscard]] bool may_send(Time now) noexcept;
    /// Assigns an id to the request and marks it as in flight.
    [[nodiscard]] const Request& begin(Request request, Time now);
    /// Returns the request that the reply is for, or nullopt if no such request is in flight.
    [[nodiscard]] std::optional<Request> take_answered(std::uint64_t id);
    [[nodiscard]] bool is_in_flight() const noexcept { return in_flight_.has_value(); }
    void hold_until(Time time) noexcept { held_until_ = time; }
    /// Records that the services returned data or promised to do so.
    void record_progress(Time now) noexcept;

    /// Returns true once when to stop waiting for missing samples. Call it regularly with whether any are missing.
    /// While the publish endpoint is disconnected it returns false, because the gateway may reconnect and help.
    [[nodiscard]] bool is_hopeless(bool is_missing, Time now) noexcept;
    /// Returns when the next action is due if no event occurs before.
    [[nodiscard]] Time next_turn(bool has_holes) const noexcept;

  private:
    [[nodiscard]] Time hope_ends() const noexcept;

    const std::vector<std::string> prefixes_;
    const std::string since_;
    bool knows_removed_ = true;  // whether the gateway knows these keys
    bool knows_earlier_runs_ = true;
    std::vector<Request> pages_;  // the next one of each kind and prefix
    std::size_t past_epochs_ = 0;
    bool is_whole_epoch_ = false;

    bool is_live_up_ = false;
    bool are_services_up_ = false;
    std::optional<Request> in_flight_;
    std::uint64_t last_id_ = 0;
    unsigned answers_missing_ = 0;  // consecutive
    Time answer_due_ = never;
    Time held_until_ = Time::min();
    Time check_at_ = never;
    // When missing samples are lost:
    Time lost_at_ = never;         // replies do not help; never: none are missing
    Time unreachable_at_ = never;  // services are unreachable; never: they are reachable
};

}  // namespace telegate::tail
