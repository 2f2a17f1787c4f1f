#pragma once

#include "account.hpp"
#include "requests.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace telegate::tail {

/// Reports what was recovered and lost in plain words, once that is settled, at most once a second.
///
/// Threads: one. Limits: ranges_max ranges in one line. Failure: std::bad_alloc.
class Narrator {
  public:
    explicit Narrator(bool recovers = true) noexcept : recovers_(recovers) {}

    void lose(const Gap& gap);
    void lost_connection() noexcept { is_away_ = true; }
    void regained_connection() noexcept { is_back_ = is_away_; }

    /// Returns a line if there is something to report. After `patience`, losses and recoveries are reported even if
    /// more are pending.
    [[nodiscard]] std::optional<std::string> words(Time now, bool is_settled, const Account::Counts& counts);

  private:
    static constexpr std::size_t ranges_max = 5;
    static constexpr std::chrono::seconds pause{1};
    static constexpr std::chrono::seconds patience{5};

    [[nodiscard]] std::string line(const Account::Counts& counts) const;

    bool recovers_;
    Account::Counts reported_;  // already reported
    std::string ranges_;
    std::string last_topic_;
    std::size_t ranges_shown_ = 0;
    std::size_t ranges_left_out_ = 0;
    bool is_away_ = false;
    bool is_back_ = false;
    Time since_ = Time::max();  // time of the first unreported event
    Time said_ = Time::min();
};

}  // namespace telegate::tail
