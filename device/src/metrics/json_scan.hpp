#pragma once

#include "metrics/number_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace telegate::metrics {

enum class JsonEvent : std::uint8_t {
    begin_object,
    end_object,
    begin_array,
    end_array,
    key,    // raw()
    text,   // raw()
    whole,  // whole(): no fraction, no exponent, and in range
    real,   // real()
    flag,   // flag()
    null,   // also a number without a value: NaN, infinity, or beyond the range of a double
    end,    // repeated from now on
    fault,  // not JSON, or nested too deeply; repeated from now on
};

/// Returns whether an object or an array begins.
[[nodiscard]] constexpr bool begins(JsonEvent event) noexcept {
    return event == JsonEvent::begin_object || event == JsonEvent::begin_array;
}

/// Returns whether the event is a text, a number, true, false or null.
[[nodiscard]] constexpr bool is_value(JsonEvent event) noexcept {
    return event == JsonEvent::text || event == JsonEvent::whole || event == JsonEvent::real ||
           event == JsonEvent::flag || event == JsonEvent::null;
}

/// Reads one JSON text (RFC 8259) event by event. Accepts what common writers add to JSON: a byte order mark, and the
/// numbers NaN and Infinity.
///
/// Threads: one.
/// Limits: depth_max nested objects and arrays, including the outermost.
/// Failure: JsonEvent::fault. Never allocates.
class JsonScan {
  public:
    static constexpr std::size_t depth_max = 32;

    explicit JsonScan(std::string_view text) noexcept : rest_(without_byte_order_mark(text)) {}

    [[nodiscard]] JsonEvent next() noexcept;

    /// Returns the raw text between the quotes; read it with put_json_text().
    [[nodiscard]] std::string_view raw() const noexcept { return raw_; }
    [[nodiscard]] std::int64_t whole() const noexcept { return whole_; }
    [[nodiscard]] double real() const noexcept { return real_; }
    /// Returns whether real() is a whole number beyond the range of whole(), which is rounded.
    [[nodiscard]] bool is_rounded() const noexcept { return is_rounded_; }
    [[nodiscard]] bool flag() const noexcept { return flag_; }
    /// Returns the number of open objects and arrays.
    [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

  private:
    enum class Expects : std::uint8_t { value, value_or_end, key, key_or_end, comma_or_end, nothing, fault };

    JsonEvent fault() noexcept;
    JsonEvent read_value() noexcept;
    JsonEvent read_key() noexcept;
    JsonEvent read_number() noexcept;
    JsonEvent read_word(std::string_view word, JsonEvent event) noexcept;
    JsonEvent open(bool is_object) noexcept;
    JsonEvent close() noexcept;
    [[nodiscard]] bool read_string() noexcept;
    [[nodiscard]] bool closes_here() const noexcept;
    void skip_space() noexcept;
    void expect_after_value() noexcept { expects_ = depth_ > 0 ? Expects::comma_or_end : Expects::nothing; }

    std::string_view rest_;
    std::string_view raw_;
    std::int64_t whole_ = 0;
    double real_ = 0;
    bool is_rounded_ = false;
    bool flag_ = false;
    Expects expects_ = Expects::value;
    std::size_t depth_ = 0;
    std::array<bool, depth_max> is_object_{};  // for each open level, the outermost first
};

/// Reads JSON texts without the members whose name an earlier member of the same object has: the first one counts.
///
/// Threads: one.
/// Limits: 16 bytes for each member of the text with the most members.
/// Failure: find() may throw std::bad_alloc.
class JsonRepeats {
  public:
    /// Finds the repeated members of `text`. Returns false if it is not JSON.
    [[nodiscard]] bool find(std::string_view text);
    /// Returns the next event of a scan of the same text.
    [[nodiscard]] JsonEvent next(JsonScan& scan) const noexcept;

  private:
    struct Member {
        std::uint64_t hash = 0;  // of the object and the name
        const char* at = nullptr;
    };

    std::vector<Member> members_;
    std::vector<const char*> repeats_;  // sorted
};

struct JsonText {
    std::string_view text;
    bool fits = true;
};

/// Writes the text of `raw` to `room`, with its escapes resolved; truncates it at a whole character. An unpaired
/// surrogate becomes U+FFFD.
[[nodiscard]] JsonText put_json_text(std::string_view raw, std::span<char> room) noexcept;

}  // namespace telegate::metrics
