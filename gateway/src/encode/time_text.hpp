#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Formats times such as "2026-11-20T23:11:34.123456789Z", exact to the nanosecond, between constant texts. The samples
/// of one tick have the same time, so the last time and the last second are cached.
///
/// Threads: one.
/// Limits: the years that 64-bit nanoseconds can represent, 1677 to 2262. `before` and `after` are up to 34 bytes long
/// together.
/// Failure: none.
class TimeText {
  public:
    static constexpr std::size_t time_bytes = 30;
    static constexpr std::size_t copied_bytes = 64;

    TimeText(std::string_view before, std::string_view after) noexcept;

    /// Returns the size of `before`, time and `after` together.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Copies copied_bytes, of which the first size() are the text; returns the end of the text.
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
    std::int64_t time_ns_ = 0;  // the time in text_
    std::int64_t second_ = 0;   // the same time in whole seconds
};

[[nodiscard]] double to_seconds(std::chrono::nanoseconds duration) noexcept;
/// Returns "2026-11-20T23:11:34.123456789Z"; floors, so that times before 1970 are correct.
[[nodiscard]] std::string to_iso8601(std::int64_t time_utc_ns);
/// Returns the same; nullopt for 0, which stands for an unknown time.
[[nodiscard]] std::optional<std::string> time_or_null(std::int64_t time_utc_ns);

/// Parses a time such as "2026-11-20T23:11:34.123456789Z", with up to nine decimals, as ns since 1970 UTC.
[[nodiscard]] std::optional<std::int64_t> parse_iso8601(std::string_view text) noexcept;

}  // namespace telegate
