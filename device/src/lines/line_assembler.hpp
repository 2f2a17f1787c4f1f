#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Splits a stream of bytes into lines, which end with LF, CR LF or CR. The division of the bytes between calls makes
/// no difference.
///
/// Threads: one at a time.
/// Limits: bytes_max for a line without its end. A longer line is dropped completely and counted. Allocates once.
/// Failure: none except std::bad_alloc of the constructor.
class LineAssembler {
  public:
    explicit LineAssembler(std::size_t bytes_max);

    /// Removes bytes from the front of `input`, up to and including the next line end. Returns the line without its
    /// end, valid until the next call and as long as `input` is; nullopt if `input` is used up.
    [[nodiscard]] std::optional<std::string_view> next(std::string_view& input) noexcept;

    /// Returns the unterminated last line after the end of the input; nullopt if there is none.
    [[nodiscard]] std::optional<std::string_view> finish() noexcept;

    /// Drops the line that has begun. With `within_line`, the bytes up to the next line end are also dropped, without
    /// being counted.
    void restart(bool within_line) noexcept;

    /// Returns the number of lines dropped because of their length.
    [[nodiscard]] std::uint64_t overlong() const noexcept { return overlong_; }
    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }

  private:
    enum class State : std::uint8_t { keeping, overlong, skipping };

    void keep(std::string_view part) noexcept;
    [[nodiscard]] std::optional<std::string_view> end_line(std::string_view part) noexcept;

    const std::size_t bytes_max_;
    std::string kept_;          // the beginning of a line from earlier calls
    bool kept_is_out_ = false;  // the last call returned kept_ as a line; the next call clears it
    bool after_cr_ = false;     // an LF now belongs to the previous line end
    State state_ = State::keeping;
    std::uint64_t overlong_ = 0;
};

}  // namespace telegate
