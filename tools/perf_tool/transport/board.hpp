#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::perf {

/// Where the sender and the receivers of a run tell each other how far they are. It lies in shared memory, so that a
/// receiver may be a child process.
///
/// Threads: any. A receiver reports to its own slot only.
/// Limits:  receivers_max receivers; texts are cut to text_bytes_max.
/// Failure: the constructor throws std::system_error or std::invalid_argument; what waits throws std::runtime_error
///          after stillness_max.
class Board {
  public:
    static constexpr std::size_t receivers_max = 256;

    explicit Board(std::size_t receivers);
    ~Board();
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    // The sender's.

    /// Where the receivers are to connect.
    void set_address(std::string_view address) noexcept;
    [[nodiscard]] bool are_all_ready() const noexcept;
    [[nodiscard]] bool are_all_done() const noexcept;
    /// Throws what a receiver has failed with.
    void check() const;
    /// When the last one was done, and what they took together. After are_all_done().
    [[nodiscard]] std::chrono::steady_clock::time_point finished() const noexcept;
    [[nodiscard]] double cpu_seconds() const noexcept;
    /// Sends every receiver home.
    void stop() noexcept;

    // The receivers'.

    [[nodiscard]] std::string wait_for_address() const;
    [[nodiscard]] bool is_stopped() const noexcept;
    void report_ready(std::size_t receiver) noexcept;
    void report_done(std::size_t receiver, std::chrono::steady_clock::time_point when, double cpu_seconds) noexcept;
    void report_failed(std::size_t receiver, std::string_view why) noexcept;
    void wait_for_stop() const;

  private:
    static constexpr std::size_t text_bytes_max = 240;
    static constexpr std::size_t cache_line_bytes = 64;
    enum class Stage : std::uint8_t { starting, ready, done, failed };
    using Text = std::array<char, text_bytes_max + 1>;

    struct alignas(cache_line_bytes) Slot {
        std::atomic<Stage> stage{Stage::starting};
        std::chrono::steady_clock::time_point finished{};
        double cpu_seconds = 0;
        Text why{};
    };
    struct Page {
        std::atomic<bool> has_address{false};
        std::atomic<bool> stopped{false};
        Text address{};
        std::array<Slot, receivers_max> slots{};
    };
    static_assert(std::atomic<Stage>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

    [[nodiscard]] bool have_all_reached(Stage stage) const noexcept;

    const std::size_t receivers_;
    Page* page_ = nullptr;
};

/// Waits a millisecond, without a share of the processor.
void nap() noexcept;

}  // namespace telegate::perf
