#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Cuts a stream of bytes into lines, which end with LF, CR LF or CR. How the bytes are divided between calls makes no
/// difference.
///
/// Threads: one at a time.
/// Limits:  bytes_max for a line without its end. A longer one is dropped whole and counted. Allocates once.
/// Failure: none but std::bad_alloc of the constructor.
class LineAssembler {
  public:
    explicit LineAssembler(std::size_t bytes_max);

    /// Takes bytes off the front of `input`, up to and with the next line end. The line without its end, valid until
    /// the next call and as long as `input` is; nullopt when `input` is used up.
    [[nodiscard]] std::optional<std::string_view> next(std::string_view& input) noexcept;

    /// The last line of a source that has ended, though it has no end; nullopt when there is none.
    [[nodiscard]] std::optional<std::string_view> finish() noexcept;

    /// Forgets the line that has begun.
    void clear() noexcept;
    /// The same; and what comes up to the next line end is the rest of a line, and is dropped without being counted.
    void skip_line() noexcept;

    /// Lines dropped for their length.
    [[nodiscard]] std::uint64_t overlong() const noexcept { return overlong_; }
    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }

  private:
    enum class State : std::uint8_t { keeping, overlong, skipping };

    void keep(std::string_view part) noexcept;
    [[nodiscard]] std::optional<std::string_view> end_line(std::string_view part) noexcept;

    const std::size_t bytes_max_;
    std::string kept_;          // of a line that has begun in an earlier call
    bool kept_is_out_ = false;  // kept_ was given out as a line, to be emptied by the next call
    bool after_cr_ = false;     // an LF now belongs to the line end before
    State state_ = State::keeping;
    std::uint64_t overlong_ = 0;
};

}  // namespace telegate
