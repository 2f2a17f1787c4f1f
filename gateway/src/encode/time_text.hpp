#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace telegate {

/// Times as text, "2026-11-20T23:11:34.123456789Z", exact to the nanosecond, between what always stands before and
/// behind them. The samples of one tick have the same time, which is rendered once; the second before, too.
///
/// Threads: one.
/// Limits:  the years that nanoseconds in 64 bits reach, 1677 to 2262. `before` and `after` take up to 34 bytes.
/// Failure: none.
class TimeText {
  public:
    static constexpr std::size_t time_bytes = 30;
    static constexpr std::size_t copied_bytes = 64;

    TimeText(std::string_view before, std::string_view after) noexcept;

    /// Of all three together.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Copies copied_bytes, of which the first size() are meant; returns their end.
    char* put(char* out, std::int64_t utc_ns) noexcept {
        if (utc_ns != time_ns_) {
            render(utc_ns);
        }
        std::memcpy(out, text_.data(), copied_bytes);
        return out + size_;
    }

  private:
    void render(std::int64_t utc_ns) noexcept;
    void render_second(std::int64_t second) noexcept;

    std::array<char, copied_bytes> text_{};
    std::size_t before_bytes_;
    std::size_t size_;
    std::int64_t time_ns_ = 0;  // what text_ shows
    std::int64_t second_ = 0;   // the same in whole seconds
};

[[nodiscard]] double to_seconds(std::chrono::nanoseconds duration) noexcept;
/// "2026-11-20T23:11:34.123456789Z"; floors, so that times before 1970 come out right too.
[[nodiscard]] std::string to_iso8601(std::int64_t time_utc_ns);

}  // namespace telegate
