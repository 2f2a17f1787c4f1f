#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace telegate::perf {

/// What keeps the machine busy beside the engines while it lives: "none", nothing; "hog", a thread for each processor
/// that never rests; "rest", a whole gateway in this process and four clients that ask it for /status without a pause.
///
/// Threads: its own, all ordinary ones; the rest one.
/// Limits:  one thread for each processor, or four clients with one connection each.
/// Failure: the constructor throws where a gateway does, stop() std::runtime_error when an answer was wrong.
class TickLoad {
  public:
    explicit TickLoad(const std::string& name);
    ~TickLoad();
    TickLoad(const TickLoad&) = delete;
    TickLoad& operator=(const TickLoad&) = delete;

    /// Ends it. Answers that the clients got: none but under "rest".
    [[nodiscard]] std::uint64_t stop();

  private:
    struct Rest;
    void ask_for_status();
    void be_busy() const noexcept;
    void join() noexcept;

    std::unique_ptr<Rest> rest_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> answers_{0};
    std::atomic<std::uint64_t> wrong_{0};
    std::vector<std::thread> threads_;
};

}  // namespace telegate::perf
