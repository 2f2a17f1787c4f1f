#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

namespace telegate::perf {

/// How long nothing may move before a run is given up, so that none hangs.
inline constexpr std::chrono::seconds stillness_max{10};

/// Throws std::runtime_error when what is waited for has not come for stillness_max.
/// Threads: one. Limits: none. Failure: as it says.
class Patience {
  public:
    /// It has come: the time starts anew with the next check().
    void renew() noexcept { waits_ = false; }
    /// It has not come yet.
    void check(const char* awaited) {
        const auto now = std::chrono::steady_clock::now();
        if (!waits_) {
            waits_ = true;
            deadline_ = now + stillness_max;
        } else if (now > deadline_) {
            throw std::runtime_error("nothing has moved for ten seconds: no " + std::string(awaited));
        }
    }

  private:
    bool waits_ = false;
    std::chrono::steady_clock::time_point deadline_{};
};

}  // namespace telegate::perf
